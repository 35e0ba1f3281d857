/** The ledger of a month: on the billing page, and as a statement to print. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { Cell } from "../../data/Csv.ts"
import { ledgerQuery } from "../../data/Ledgers.ts"
import type { Ledger as LedgerOf, LedgerLine } from "../../data/Statement.ts"
import { count, date } from "../../format/Figures.ts"
import { exactMoney } from "../../format/Money.ts"
import { plural } from "../../format/Words.ts"
import { Money } from "../../parts/Figures.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { Table } from "../../parts/Table.tsx"

const kinds: Readonly<Record<LedgerLine["kind"], string>> = {
  requests: "Requests",
  top_up: "Top-up",
  starter_credit: "Starter credit",
  credit: "Credit by the operator",
  adjustment: "Adjustment by the operator",
  refund: "Refund"
}

// The requests of a day are those of a day in UTC.
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" })

const dayOf = (line: LedgerLine): string => (line.kind === "requests" ? day.format(line.at * 1_000) : date(line.at))

const about = ({ kind, reference, requests }: LedgerLine): string =>
  requests === undefined ? (reference ?? "") : kind === "requests" ? plural(requests, "request") : ""

/** The month's name, such as March 2026. */
export const monthName = (month: string): string =>
  new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" }).format(
    Date.parse(`${month}-01`)
  )

/** The ledger as rows of a file. */
export const csvOfLedger = ({ closing, lines, opening }: LedgerOf): ReadonlyArray<ReadonlyArray<Cell>> => [
  ["date (UTC)", "type", "requests", "reference", "amount_usd", "balance_usd"],
  ["", "Opening balance", null, "", null, opening],
  ...lines.map((line): ReadonlyArray<Cell> => [
    new Date(line.at * 1_000).toISOString().slice(0, 10),
    kinds[line.kind],
    line.requests ?? null,
    line.topUpId ?? line.reference ?? "",
    line.amount,
    line.balance
  ]),
  ["", "Closing balance", null, "", null, closing]
]

const Signed = ({ usd }: { readonly usd: number }) => (
  <span className="number" title={exactMoney(usd)}>
    {usd > 0 ? "+" : "−"}
    <Money usd={Math.abs(usd)} />
  </span>
)

/** The lines of a month with the balance after each. */
export const LedgerTable = ({
  ledger,
  newestFirst = false
}: {
  readonly ledger: LedgerOf
  readonly newestFirst?: boolean
}) => {
  const lines = newestFirst ? ledger.lines.toReversed() : ledger.lines
  return (
    <Table label="ledger" columns={["Date", "What", { unseen: "Details" }, { right: "Amount" }, { right: "Balance" }]}>
      {lines.map((line) => (
        <tr key={line.id}>
          <td className="nowrap">{dayOf(line)}</td>
          <td>{kinds[line.kind]}</td>
          <td className="muted clip">{about(line)}</td>
          <td className="right">
            <Signed usd={line.amount} />
          </td>
          <td className="right">
            <Money usd={line.balance} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** Lines on the billing page. */
const NEWEST = 12

/** The ledger of the running month, and the way to the statements of all months. */
export const LedgerCard = ({ month, months }: { readonly month: string; readonly months: ReadonlyArray<string> }) => {
  const { data, error, isPending, refetch } = useQuery(ledgerQuery(month))
  return (
    <section className="card" aria-label="Ledger">
      <header>
        <h2>{monthName(month)}</h2>
        <span className="muted small">Statements:</span>
        {months.map((one) => (
          <Link key={one} className="small" to="/billing/statements/$month" params={{ month: one }}>
            {monthName(one)}
          </Link>
        ))}
      </header>
      {error === null ? null : <Failed error={error} onRetry={() => void refetch()} />}
      {isPending ? <SkeletonRows rows={8} /> : null}
      {data === undefined ? null : data.lines.length === 0 ? (
        <Empty title="Nothing was paid in or spent this month.">
          <p>Every top-up, credit and day of requests has a line here, with the balance after it.</p>
        </Empty>
      ) : (
        <LedgerTable ledger={{ ...data, lines: data.lines.slice(-NEWEST) }} newestFirst />
      )}
      {data === undefined || data.lines.length === 0 ? null : (
        <p className="body muted small">
          {data.lines.length > NEWEST
            ? `The newest ${NEWEST} of ${count(data.lines.length)} lines; the statement has all. `
            : ""}
          The requests of a day are one line, less what was refunded of them.
        </p>
      )}
    </section>
  )
}
