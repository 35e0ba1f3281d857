/** Requests with their price, their provider cost and their margin. */
import { Link } from "@tanstack/react-router"
import type { OperatorReceipt } from "../../../client/Contract.ts"
import { duration } from "../../format/Figures.ts"
import { operationName } from "../../format/Words.ts"
import { Ago, Money, Status } from "../../parts/Figures.tsx"
import { type Column, Table } from "../../parts/Table.tsx"

type Row = OperatorReceipt & { readonly email?: string }

const unknown = (
  <span className="muted" title="The provider did not report its cost, and no price list states it.">
    —
  </span>
)

/** The price less the cost of the provider and of failed attempts. It is undefined for a running request, for simulated money, and if the cost is unknown. */
export const marginOf = (row: OperatorReceipt): number | undefined =>
  (row.provider_cost_usd === null && (row.settled_usd > 0 || row.attempt_cost_usd === 0)) ||
  row.status === "open" ||
  row.paid_with === "simulated"
    ? undefined
    : row.cost_usd - (row.provider_cost_usd ?? 0) - row.attempt_cost_usd

const Margin = ({ row }: { readonly row: OperatorReceipt }) => {
  const margin = marginOf(row)
  if (margin === undefined) {
    if (row.paid_with === "simulated") return <span className="muted">simulated money</span>
    const reason = row.status === "open" ? "The request is still running." : "The provider's cost is not known."
    return (
      <span className="muted" title={reason}>
        —
      </span>
    )
  }
  return (
    <span className={margin < 0 ? "bad-text" : ""}>
      <Money usd={margin} />
    </span>
  )
}

const Line = ({ owned, row }: { readonly row: Row; readonly owned: boolean }) => (
  <tr>
    <th scope="row">
      <Link to="/operator/requests/$id" params={{ id: row.id }} title={row.id}>
        <Ago at={row.created_at} />
      </Link>
    </th>
    <td>
      <Status of={row.status} />
    </td>
    {owned ? (
      <td>
        <Link className="clip" to="/operator/accounts/$id" params={{ id: row.account_id }} title={row.email}>
          {row.email}
        </Link>
      </td>
    ) : null}
    <td>
      <span className="stack">
        <span className="clip" title={row.resolved_model ?? row.model}>
          {row.resolved_model ?? row.model}
        </span>
        <span className="muted small">
          {operationName(row.operation)}
          {row.provider === null ? "" : ` by ${row.provider}`}
        </span>
      </span>
    </td>
    <td className="right">
      <Money usd={row.cost_usd} />
    </td>
    <td className="right">{row.provider_cost_usd === null ? unknown : <Money usd={row.provider_cost_usd} />}</td>
    <td className="right">
      <Margin row={row} />
    </td>
    <td className="right number wide-only">
      {row.timings.total_ms === null ? <span className="muted">—</span> : duration(row.timings.total_ms)}
    </td>
  </tr>
)

interface MarginTableProps {
  readonly rows: ReadonlyArray<Row>
  /** Whether the table names the account of each request. */
  readonly owned?: boolean
}

/** A table of requests. */
export const MarginTable = ({ owned = false, rows }: MarginTableProps) => {
  const columns: ReadonlyArray<Column> = [
    "Time",
    "Status",
    ...(owned ? ["Account"] : []),
    "Model",
    { right: "Price" },
    { right: "Provider cost" },
    { right: "Margin" },
    { right: "Latency" }
  ]
  return (
    <Table label="requests" columns={columns}>
      {rows.map((row) => (
        <Line key={row.id} row={row} owned={owned} />
      ))}
    </Table>
  )
}
