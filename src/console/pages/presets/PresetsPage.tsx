import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { PresetSummary } from "../../../client/Contract.ts"
import { ListPage } from "../../app/ListPage.tsx"
import { api } from "../../data/Client.ts"
import { MAX_LISTED, presetQuery, presetsQuery } from "../../data/Queries.ts"
import { Confirm, Dialog } from "../../parts/Dialog.tsx"
import { Ago } from "../../parts/Figures.tsx"
import { Failed, SkeletonRows } from "../../parts/States.tsx"
import { actionsColumn, RowActions, Table } from "../../parts/Table.tsx"
import { PresetDialog } from "./PresetDialog.tsx"
import { Versions } from "./Versions.tsx"

const DeletePreset = ({ of, onClose }: { readonly of: PresetSummary; readonly onClose: () => void }) => (
  <Confirm
    title={`Delete @${of.slug}?`}
    name={of.slug}
    action="Delete preset"
    run={() => api.call("management.presets.delete", { path: { slug: of.slug } })}
    changes={[presetsQuery]}
    done={`Deleted @${of.slug}.`}
    onClose={onClose}
  >
    Requests with the model <code>@{of.slug}</code> fail from now on. The gateway deletes all its versions. You cannot
    undo this.
  </Confirm>
)

/** Reads the config, which the list does not include, and then opens the form. */
const EditPreset = ({ onClose, slug }: { readonly slug: string; readonly onClose: () => void }) => {
  const preset = useQuery(presetQuery(slug))
  if (preset.data !== undefined && !preset.isFetching) return <PresetDialog of={preset.data} onClose={onClose} />
  return (
    <Dialog wide title={`Edit @${slug}`} onClose={onClose}>
      {preset.isError ? <Failed error={preset.error} onRetry={() => void preset.refetch()} /> : <SkeletonRows />}
    </Dialog>
  )
}

type Open = { readonly what: "edit" | "versions" | "delete"; readonly of: PresetSummary } | "new"

const Row = ({ of, onOpen }: { readonly of: PresetSummary; readonly onOpen: (open: Open) => void }) => (
  <tr>
    <th scope="row">
      <span className="stack">
        <code className="clip">@{of.slug}</code>
        <span className="muted clip">{of.name}</span>
      </span>
    </th>
    <td className="clip muted" title={of.description ?? undefined}>
      {of.description}
    </td>
    <td className="right number">{of.active_version}</td>
    <td>
      <Ago at={of.updated_at} />
    </td>
    <td>
      <RowActions
        of={of.slug}
        actions={[
          { name: "Edit", run: () => onOpen({ what: "edit", of }) },
          { name: "Versions", run: () => onOpen({ what: "versions", of }) },
          { name: "Delete", danger: true, run: () => onOpen({ what: "delete", of }) }
        ]}
      >
        <Link className="button plain tiny" to="/playground" search={{ model: `@${of.slug}` }}>
          Try<span className="unseen"> {of.slug}</span>
        </Link>
      </RowActions>
    </td>
  </tr>
)

/** The page that lists, creates, edits and deletes presets. */
export const PresetsPage = () => {
  const presets = useQuery(presetsQuery)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <ListPage
      title="Presets"
      query={presets}
      most={MAX_LISTED}
      create={{ name: "Create preset", run: () => setOpen("new") }}
      empty={{
        title: "There is no preset yet.",
        about:
          "A preset is a model with its parameters and instructions under one name, such as @brief, that you change without a deploy."
      }}
      dialogs={
        open === undefined ? null : open === "new" ? (
          <PresetDialog of={undefined} onClose={close} />
        ) : open.what === "edit" ? (
          <EditPreset slug={open.of.slug} onClose={close} />
        ) : open.what === "versions" ? (
          <Versions of={open.of} onClose={close} />
        ) : (
          <DeletePreset of={open.of} onClose={close} />
        )
      }
    >
      {(rows) => (
        <Table label="presets" columns={["Preset", "Description", { right: "Version" }, "Changed", actionsColumn]}>
          {rows.map((of) => (
            <Row key={of.id} of={of} onOpen={setOpen} />
          ))}
        </Table>
      )}
    </ListPage>
  )
}
