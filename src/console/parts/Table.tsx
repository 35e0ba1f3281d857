/** Tables, and the buttons at the end of their rows. */
import type { CSSProperties, ReactNode } from "react"

/** The name of a column: `right` aligns figures, and `unseen` is only for screen readers. */
export type Column = string | { readonly right: string } | { readonly unseen: string }

const Head = ({ of }: { readonly of: Column }) => {
  if (typeof of === "string") return <th scope="col">{of}</th>
  if ("unseen" in of) {
    return (
      <th scope="col">
        <span className="unseen">{of.unseen}</span>
      </th>
    )
  }
  return (
    <th scope="col" className="right">
      {of.right}
    </th>
  )
}

interface TableProps {
  /** The plural name of the rows. */
  readonly label: string
  readonly columns: ReadonlyArray<Column>
  readonly children: ReactNode
}

const nameOf = (column: Column): string => (typeof column === "string" ? column : "right" in column ? column.right : "")

/** The names of the columns for the style sheet, which writes them beside the values when rows are cards. */
const labelsOf = (columns: ReadonlyArray<Column>): CSSProperties =>
  Object.fromEntries(columns.map((column, at) => [`--column-${at + 1}`, JSON.stringify(nameOf(column))]))

/** A table whose rows become cards on a phone. */
export const Table = ({ children, columns, label }: TableProps) => (
  <div className="scroll" tabIndex={0} role="region" aria-label={`Table: ${label}`}>
    <table className="table cards" style={labelsOf(columns)}>
      <thead>
        <tr>
          {columns.map((column) => (
            <Head key={JSON.stringify(column)} of={column} />
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)

/** The last column of a table whose rows have actions. */
export const actionsColumn: Column = { unseen: "Actions" }

export interface RowAction {
  readonly name: string
  readonly run: () => void
  readonly danger?: boolean
  readonly disabled?: boolean
}

interface RowActionsProps {
  /** The name of the row, which screen readers read after the name of each button. */
  readonly of: string
  readonly actions: ReadonlyArray<RowAction>
  /** Links before the buttons. */
  readonly children?: ReactNode
}

/** The buttons at the end of a row. */
export const RowActions = ({ actions, children, of }: RowActionsProps) =>
  actions.length === 0 && children === undefined ? null : (
    <span className="actions end">
      {children}
      {actions.map(({ danger = false, disabled = false, name, run }) => (
        <button
          key={name}
          type="button"
          className={danger ? "button plain tiny danger" : "button plain tiny"}
          disabled={disabled}
          onClick={run}
        >
          {name}
          <span className="unseen"> {of}</span>
        </button>
      ))}
    </span>
  )
