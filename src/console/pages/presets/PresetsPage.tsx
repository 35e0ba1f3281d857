import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { PresetSummary } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { api } from "../../data/Client.ts"
import { presetQuery, presetsQuery } from "../../data/Queries.ts"
import { Confirm, Dialog } from "../../parts/Dialog.tsx"
import { Ago } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { toast } from "../../parts/Toasts.tsx"
import { PresetDialog } from "./PresetDialog.tsx"
import { Versions } from "./Versions.tsx"

const DeletePreset = ({ of, onClose }: { readonly of: PresetSummary; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const remove = useMutation({
    mutationFn: () => api.call("management.presets.delete", { path: { slug: of.slug } }),
    onSuccess: async () => {
      await client.invalidateQueries(presetsQuery)
      toast(`Deleted ${of.slug}.`)
      onClose()
    }
  })
  return (
    <Confirm
      title={`Delete @${of.slug}?`}
      name={of.slug}
      action="Delete preset"
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {remove.isError ? <Failed error={remove.error} /> : null}
      Requests with the model <code>@{of.slug}</code> fail from now on. All versions go with it. It cannot be undone.
    </Confirm>
  )
}

/** Reads the config, which the list leaves out, and then edits it. */
const EditPreset = ({ onClose, slug }: { readonly slug: string; readonly onClose: () => void }) => {
  const preset = useQuery(presetQuery(slug))
  if (preset.data !== undefined && !preset.isFetching) return <PresetDialog of={preset.data} onClose={onClose} />
  return (
    <Dialog title={`Edit @${slug}`} onClose={onClose}>
      {preset.isError ? <Failed error={preset.error} onRetry={() => void preset.refetch()} /> : <SkeletonRows />}
    </Dialog>
  )
}

type Open = { readonly what: "edit" | "versions" | "delete"; readonly of: PresetSummary } | "new"

const PresetTable = ({ onOpen, rows }: { rows: ReadonlyArray<PresetSummary>; onOpen: (open: Open) => void }) => (
  <div className="scroll" tabIndex={0} role="region" aria-label="Table: presets">
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Preset</th>
          <th scope="col">Name</th>
          <th scope="col" className="right">
            Version
          </th>
          <th scope="col">Changed</th>
          <th scope="col">
            <span className="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((of) => (
          <tr key={of.id}>
            <th scope="row">
              <code>@{of.slug}</code>
            </th>
            <td className="clip" title={of.description ?? undefined}>
              {of.name}
            </td>
            <td className="right number">{of.active_version}</td>
            <td>
              <Ago at={of.updated_at} />
            </td>
            <td>
              <span className="actions end">
                <Link className="button plain tiny" to="/playground" search={{ model: `@${of.slug}` }}>
                  Try<span className="unseen"> {of.slug}</span>
                </Link>
                {(["edit", "versions", "delete"] as const).map((what) => (
                  <button
                    key={what}
                    type="button"
                    className={what === "delete" ? "button plain tiny danger" : "button plain tiny"}
                    onClick={() => onOpen({ what, of })}
                  >
                    {what === "edit" ? "Edit" : what === "versions" ? "Versions" : "Delete"}
                    <span className="unseen"> {of.slug}</span>
                  </button>
                ))}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

export const PresetsPage = () => {
  const presets = useQuery(presetsQuery)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const create = (
    <button type="button" className="button primary" onClick={() => setOpen("new")}>
      <Icon name="plus" />
      Create preset
    </button>
  )
  return (
    <Page title="Presets" tools={create}>
      {presets.isError ? <Failed error={presets.error} onRetry={() => void presets.refetch()} /> : null}
      <section className="card" aria-label="Presets">
        {presets.data === undefined ? (
          <SkeletonRows />
        ) : presets.data.length === 0 ? (
          <Empty title="There is no preset yet." action={create}>
            <p>
              A preset is a model with its parameters and instructions under one name, such as @brief, that you change
              without a deploy.
            </p>
          </Empty>
        ) : (
          <PresetTable rows={presets.data} onOpen={setOpen} />
        )}
      </section>
      {open === "new" ? <PresetDialog of={undefined} onClose={close} /> : null}
      {open === undefined || open === "new" ? null : open.what === "edit" ? (
        <EditPreset slug={open.of.slug} onClose={close} />
      ) : open.what === "versions" ? (
        <Versions of={open.of} onClose={close} />
      ) : (
        <DeletePreset of={open.of} onClose={close} />
      )}
    </Page>
  )
}
