import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { PresetSummary, PresetVersion } from "../../../client/Contract.ts"
import { api } from "../../data/Client.ts"
import { differences } from "../../data/Differences.ts"
import { presetsQuery, presetVersionsQuery } from "../../data/Queries.ts"
import { CloseButton, Dialog } from "../../parts/Dialog.tsx"
import { Diff } from "../../parts/Diff.tsx"
import { Select } from "../../parts/Fields.tsx"
import { Ago } from "../../parts/Figures.tsx"
import { Failed, SkeletonRows } from "../../parts/States.tsx"
import { toast } from "../../parts/Toasts.tsx"

interface VersionProps {
  readonly of: PresetVersion
  readonly all: ReadonlyArray<PresetVersion>
  readonly active: boolean
  readonly busy: boolean
  readonly onActivate: () => void
}

/** A version, compared with the one before it or with any other. */
const Version = ({ active, all, busy, of, onActivate }: VersionProps) => {
  const [other, setOther] = useState(String(of.version - 1))
  const before = all.find(({ version }) => String(version) === other)
  const lines = differences(of.config, before?.config)
  return (
    <section className="card" aria-label={`Version ${of.version}`}>
      <header>
        <h3>
          Version {of.version}{" "}
          <span className="muted">
            <Ago at={of.created_at} />
          </span>
        </h3>
        {all.length < 2 ? null : (
          <Select
            label={`Compare version ${of.version} with`}
            value={before === undefined ? "" : other}
            options={[
              { value: "", name: "whole config" },
              ...all
                .filter(({ version }) => version !== of.version)
                .map(({ version }) => ({ value: String(version), name: `against version ${version}` }))
            ]}
            onChange={setOther}
          />
        )}
        {active ? (
          <span className="badge good">Active</span>
        ) : (
          <button type="button" className="button tiny" disabled={busy} onClick={onActivate}>
            Activate<span className="unseen"> version {of.version}</span>
          </button>
        )}
      </header>
      {lines.length === 0 ? (
        <p className="body muted small">Both configs are the same.</p>
      ) : (
        <Diff label={`What version ${of.version} changes`} lines={lines} />
      )}
    </section>
  )
}

/** All versions of a preset with their changes. The owner can activate each. */
export const Versions = ({ of, onClose }: { readonly of: PresetSummary; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const versions = useQuery(presetVersionsQuery(of.slug))
  const activate = useMutation({
    mutationFn: (version: number) => api.call("management.presets.activate", { path: { slug: of.slug, version } }),
    onSuccess: async ({ data }) => {
      await client.invalidateQueries(presetsQuery)
      toast(`@${data.slug} now uses version ${data.active_version}.`)
      onClose()
    }
  })
  return (
    <Dialog wide title={`Versions of @${of.slug}`} onClose={onClose}>
      {versions.isError ? <Failed error={versions.error} onRetry={() => void versions.refetch()} /> : null}
      {activate.isError ? <Failed error={activate.error} /> : null}
      {versions.isPending ? <SkeletonRows rows={3} /> : null}
      {versions.data?.map((version) => (
        <Version
          key={version.version}
          of={version}
          all={versions.data}
          active={version.version === of.active_version}
          busy={activate.isPending}
          onActivate={() => activate.mutate(version.version)}
        />
      ))}
      <CloseButton onClose={onClose} />
    </Dialog>
  )
}
