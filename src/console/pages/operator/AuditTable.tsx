/** Lines of an audit log, each with what it changed. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { AuditLog } from "../../../client/Contract.ts"
import { auditDifferences } from "../../data/Differences.ts"
import { sentence } from "../../format/Words.ts"
import { Id } from "../../parts/Copy.tsx"
import { Diff } from "../../parts/Diff.tsx"
import { Ago, Status } from "../../parts/Figures.tsx"
import { type Column, Table } from "../../parts/Table.tsx"

/** A line, which names its operator and its account in the log of all operators. */
type Line = Omit<AuditLog, "actor"> & {
  readonly actor: { readonly type: string; readonly id: string; readonly name?: string | null }
  readonly account_id?: string | null
  readonly email?: string | null
}

const Actor = ({ of: { id, name, type } }: { readonly of: Line["actor"] }) => (
  <span className="stack">
    <span className="clip">{name ?? (id === "command-line" ? "Admin command" : sentence(type))}</span>
    {id === "command-line" ? null : <code className="muted">{id}</code>}
  </span>
)

const Changes = ({ line }: { readonly line: Line }) => (
  <div className="grid tight">
    {Object.keys(line.changes).length === 0 ? (
      <span className="muted small">Nothing beside the event itself was recorded.</span>
    ) : (
      <Diff label="What changed" lines={auditDifferences(line.changes)} />
    )}
    {line.code === null ? null : (
      <span>
        Failed with <code>{line.code}</code>
      </span>
    )}
    {line.request_id === null ? null : <Id value={line.request_id} />}
  </div>
)

const Row = ({ isOfAll, line }: { readonly line: Line; readonly isOfAll: boolean }) => {
  const [open, setOpen] = useState(false)
  return (
    <>
      <tr className="pick">
        <td>
          <Ago at={line.effective_at} />
        </td>
        <th scope="row">
          <button
            type="button"
            className="button plain tiny flush"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            title="Show what changed"
          >
            {sentence(line.type)}
          </button>
        </th>
        <td>
          <Actor of={line.actor} />
        </td>
        {isOfAll ? (
          <td>
            {line.account_id == null ? (
              <span className="muted">—</span>
            ) : (
              <Link className="clip" to="/operator/accounts/$id" params={{ id: line.account_id }}>
                {line.email}
              </Link>
            )}
          </td>
        ) : null}
        <td>
          <span className="stack">
            <span>{sentence(line.resource.type)}</span>
            <code className="muted clip" title={line.resource.id}>
              {line.resource.id}
            </code>
          </span>
        </td>
        <td>
          <Status of={line.outcome ?? line.status} />
        </td>
      </tr>
      {open ? (
        <tr>
          <td colSpan={isOfAll ? 6 : 5}>
            <Changes line={line} />
          </td>
        </tr>
      ) : null}
    </>
  )
}

interface AuditTableProps {
  readonly lines: ReadonlyArray<Line>
  /** Whether they are of all accounts. */
  readonly isOfAll?: boolean
}

export const AuditTable = ({ isOfAll = false, lines }: AuditTableProps) => {
  const columns: ReadonlyArray<Column> = ["Time", "Event", "By", ...(isOfAll ? ["Account"] : []), "To", "Outcome"]
  return (
    <Table label="audit log" columns={columns}>
      {lines.map((line) => (
        <Row key={line.id} line={line} isOfAll={isOfAll} />
      ))}
    </Table>
  )
}
