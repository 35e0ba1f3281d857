import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import type { ManagedKey } from "../../../client/Contract.ts"
import { ListPage } from "../../app/ListPage.tsx"
import { useNames } from "../../data/Names.ts"
import { keysQuery, MAX_LISTED } from "../../data/Queries.ts"
import { policyWords } from "../../data/Routing.ts"
import { plural } from "../../format/Words.ts"
import { Segments } from "../../parts/Fields.tsx"
import { Ago } from "../../parts/Figures.tsx"
import { Meter } from "../../parts/Meter.tsx"
import { Failures, Spend } from "../../parts/Spend.tsx"
import { actionsColumn, RowActions, Table } from "../../parts/Table.tsx"
import { KeyDialog } from "./KeyDialog.tsx"
import { RevokeKey, RotateKey } from "./RotateAndRevoke.tsx"

type Open = { readonly what: "create" } | { readonly what: "edit" | "rotate" | "revoke"; readonly key: ManagedKey }

interface RowProps {
  readonly row: ManagedKey
  readonly project: string | undefined
  readonly onOpen: (open: Open) => void
}

/** The limits of a key other than its budget. */
const Limits = ({ of }: { readonly of: ManagedKey }) => {
  const routing = policyWords(of.routing)
  if (routing === undefined && of.allowed_tools === null && of.expires_at === null) return null
  return (
    <span className="chips">
      {of.expires_at === null ? null : (
        <span className="chip">
          {of.status === "active" ? "expires" : "expired"}&nbsp;
          <Ago at={of.expires_at} />
        </span>
      )}
      {routing === undefined ? null : (
        <span className="chip" title={routing}>
          routing
        </span>
      )}
      {of.allowed_tools === null ? null : (
        <span className="chip" title={of.allowed_tools.join(", ")}>
          {plural(of.allowed_tools.length, "tool")}
        </span>
      )}
    </span>
  )
}

const Row = ({ onOpen, project, row }: RowProps) => (
  <tr className={row.status === "active" ? "" : "off"}>
    <th scope="row">
      <span className="stack">
        <span className="clip" title={row.name}>
          {row.name}
        </span>
        <code className="muted">
          {row.prefix}…{row.last4}
        </code>
        <Limits of={row} />
      </span>
    </th>
    <td className="clip">{project ?? <span className="muted">no project</span>}</td>
    <td>
      {row.budget_cents === null ? (
        <span className="muted">no budget</span>
      ) : (
        <Meter spentCents={row.spent_cents} budgetCents={row.budget_cents} period={row.budget_period} />
      )}
    </td>
    <td className="right">
      <Spend by="key" id={row.id} />
    </td>
    <td className="right">
      <Failures by="key" id={row.id} />
    </td>
    <td>
      {row.last_used_at === null ? (
        <span className="muted">never</span>
      ) : (
        <Link to="/requests" search={{ key: row.id } as never}>
          <Ago at={row.last_used_at} />
        </Link>
      )}
    </td>
    <td>
      {row.status === "active" ? (
        <RowActions
          of={row.name}
          actions={[
            { name: "Edit", run: () => onOpen({ what: "edit", key: row }) },
            { name: "Rotate", run: () => onOpen({ what: "rotate", key: row }) },
            { name: "Revoke", danger: true, run: () => onOpen({ what: "revoke", key: row }) }
          ]}
        />
      ) : null}
    </td>
  </tr>
)

interface DialogsProps {
  readonly open: Open
  readonly projectId: string | undefined
  readonly onClose: () => void
}

const Dialogs = ({ onClose, open, projectId }: DialogsProps) => {
  if (open.what === "create") return <KeyDialog projectId={projectId} onClose={onClose} />
  if (open.what === "edit") return <KeyDialog of={open.key} onClose={onClose} />
  if (open.what === "rotate") return <RotateKey of={open.key} onClose={onClose} />
  return <RevokeKey of={open.key} onClose={onClose} />
}

const columns = [
  "Name",
  "Project",
  "Budget",
  { right: "Spend, 30 days" },
  { right: "Failed" },
  "Last used",
  actionsColumn
]

/** The page that lists, creates, edits, rotates and revokes keys. */
export const KeysPage = () => {
  const { project } = useSearch({ from: "/shell/keys" })
  const navigate = useNavigate({ from: "/keys" })
  const keys = useQuery(keysQuery)
  const projectName = useNames("project")
  const [shown, setShown] = useState<"active" | "revoked">("active")
  const [open, setOpen] = useState<Open>()
  return (
    <ListPage
      title="Keys"
      query={keys}
      most={MAX_LISTED}
      filter={(key) => key.status === shown && (project === undefined || key.project_id === project)}
      create={{ name: "Create key", run: () => setOpen({ what: "create" }) }}
      head={(rows) => (
        <>
          <span className="chips">
            <span className="muted small">{rows === undefined ? "" : plural(rows.length, `${shown} key`)}</span>
            {project === undefined ? null : (
              <button
                type="button"
                className="chip remove"
                aria-label="Show the keys of all projects"
                onClick={() => void navigate({ search: {} })}
              >
                {projectName(project)} ×
              </button>
            )}
          </span>
          <Segments
            label="Status"
            value={shown}
            options={[
              { value: "active", name: "Active" },
              { value: "revoked", name: "Revoked" }
            ]}
            onChange={setShown}
          />
        </>
      )}
      empty={{
        title: shown === "active" ? "There is no active key." : "No key has been revoked.",
        about: "Programs authenticate with a key. Create one for each program to see what each of them spends.",
        ...(shown === "active" ? {} : { action: null })
      }}
      dialogs={
        open === undefined ? null : <Dialogs open={open} projectId={project} onClose={() => setOpen(undefined)} />
      }
    >
      {(rows) => (
        <Table label="keys" columns={columns}>
          {rows.map((row) => (
            <Row
              key={row.id}
              row={row}
              project={row.project_id === null ? undefined : projectName(row.project_id)}
              onOpen={setOpen}
            />
          ))}
        </Table>
      )}
    </ListPage>
  )
}
