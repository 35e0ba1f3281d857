/** The events of an audit log with their changes. */
import { type ReactNode, useState } from "react"
import type { AuditLog } from "../../client/Contract.ts"
import { changesInWords, eventName, summaryOf } from "../data/AuditWords.ts"
import { sentence } from "../format/Words.ts"
import { Id } from "./Copy.tsx"
import { Diff } from "./Diff.tsx"
import { Ago, Status } from "./Figures.tsx"
import { type Column, Table } from "./Table.tsx"

/** An event. It names the operator only for operators. */
export type AuditLine = Omit<AuditLog, "actor"> & {
  readonly actor: { readonly type: string; readonly id: string; readonly name?: string | null }
}

const Actor = ({ of: { id, name, type } }: { readonly of: AuditLine["actor"] }) => (
  <span className="stack">
    <span className="clip">{name ?? (id === "command-line" ? "Admin command" : sentence(type))}</span>
    {id === "command-line" ? null : <code className="muted">{id}</code>}
  </span>
)

const Changes = ({ line }: { readonly line: AuditLine }) => (
  <div className="grid tight">
    {Object.keys(line.changes).length === 0 ? (
      <span className="muted small">The event recorded no values.</span>
    ) : (
      <Diff label="What changed" lines={changesInWords(line)} />
    )}
    {line.code === null ? null : (
      <span>
        Failed with <code>{line.code}</code>
      </span>
    )}
    {line.request_id === null ? null : <Id value={line.request_id} />}
  </div>
)

const Row = ({ account, line }: { readonly line: AuditLine; readonly account: ReactNode }) => {
  const [open, setOpen] = useState(false)
  const summary = summaryOf(line)
  return (
    <>
      <tr className="pick">
        <td>
          <Ago at={line.effective_at} />
        </td>
        <th scope="row">
          <span className="stack event">
            <button
              type="button"
              className="button plain tiny flush"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
              title="Show what changed"
            >
              {eventName(line)}
            </button>
            {summary === "" ? null : <span className="muted small">{summary}</span>}
          </span>
        </th>
        <td>
          <Actor of={line.actor} />
        </td>
        {account === undefined ? null : <td>{account}</td>}
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
          <td colSpan={account === undefined ? 5 : 6}>
            <Changes line={line} />
          </td>
        </tr>
      ) : null}
    </>
  )
}

interface AuditTableProps<Line extends AuditLine> {
  readonly lines: ReadonlyArray<Line>
  /** The account of an event, if the events are of several accounts. */
  readonly accountOf?: (line: Line) => ReactNode
}

/** A table of events with what they changed and why. A click on an event shows each value before and after it. */
export const AuditTable = <Line extends AuditLine>({ accountOf, lines }: AuditTableProps<Line>) => {
  const accounts = accountOf === undefined ? [] : ["Account"]
  const columns: ReadonlyArray<Column> = ["Time", "Event", "Actor", ...accounts, "Resource", "Outcome"]
  return (
    <Table label="audit log" columns={columns}>
      {lines.map((line) => (
        <Row key={line.id} line={line} account={accountOf?.(line)} />
      ))}
    </Table>
  )
}
