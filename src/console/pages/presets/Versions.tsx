import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { PresetSummary } from "../../../client/Contract.ts"
import { api } from "../../data/Client.ts"
import { presetsQuery, presetVersionsQuery } from "../../data/Queries.ts"
import { Dialog } from "../../parts/Dialog.tsx"
import { Ago } from "../../parts/Figures.tsx"
import { Failed, SkeletonRows } from "../../parts/States.tsx"
import { toast } from "../../parts/Toasts.tsx"
import { differences } from "./Differences.ts"

/** Every version of a preset with what it changed, and a way back to each. */
export const Versions = ({ of, onClose }: { readonly of: PresetSummary; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const versions = useQuery(presetVersionsQuery(of.slug))
  const activate = useMutation({
    mutationFn: (version: number) => api.call("management.presets.activate", { path: { slug: of.slug, version } }),
    onSuccess: async ({ data }) => {
      await client.invalidateQueries(presetsQuery)
      toast(`@${data.slug} is at version ${data.active_version}.`)
      onClose()
    }
  })
  return (
    <Dialog wide title={`Versions of @${of.slug}`} onClose={onClose}>
      {versions.isError ? <Failed error={versions.error} onRetry={() => void versions.refetch()} /> : null}
      {activate.isError ? <Failed error={activate.error} /> : null}
      {versions.isPending ? <SkeletonRows rows={3} /> : null}
      {versions.data?.map((version, at) => (
        <section key={version.version} className="card" aria-label={`Version ${version.version}`}>
          <header>
            <h3>
              Version {version.version}{" "}
              <span className="muted">
                <Ago at={version.created_at} />
              </span>
            </h3>
            {version.version === of.active_version ? (
              <span className="badge good">Active</span>
            ) : (
              <button
                type="button"
                className="button tiny"
                disabled={activate.isPending}
                onClick={() => activate.mutate(version.version)}
              >
                Activate
              </button>
            )}
          </header>
          <pre className="changes" tabIndex={0}>
            {differences(version, versions.data[at + 1]).join("\n")}
          </pre>
        </section>
      ))}
      <div className="actions end">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
