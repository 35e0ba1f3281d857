/** The ledger of a month, on the billing page and on a statement. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { Cell } from "../../data/Csv.ts"
import { ledgerQuery } from "../../data/Ledgers.ts"
import type { Ledger as LedgerOf, LedgerLine } from "../../data/Statement.ts"
import { count, monthName, utcDate } from "../../format/Figures.ts"
import { exactMoney, signedMoney } from "../../format/Money.ts"
import { plural } from "../../format/Words.ts"
import { Money, Signed } from "../../parts/Figures.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { Table } from "../../parts/Table.tsx"

const kinds: Readonly<Record<LedgerLine["kind"], string>> = {
  requests: "Requests",
  top_up: "Top-up",
  starter_credit: "Starter credit",
  credit: "Credit from the operator",
  adjustment: "Adjustment from the operator",
  refund: "Refund"
}

const detailsOf = ({ kind, reference, requests }: LedgerLine): string =>
  requests === undefined ? (reference ?? "") : kind === "requests" ? plural(requests, "request") : ""

/** The ledger as rows of a CSV file. */
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

/** A table of the lines of a month, with the balance after each line. */
export const LedgerTable = ({
  ledger,
  newestFirst = false
}: {
  readonly ledger: LedgerOf
  readonly newestFirst?: boolean
}) => {
  const lines = newestFirst ? ledger.lines.toReversed() : ledger.lines
  return (
    <Table
      label="ledger"
      columns={["Date (UTC)", "Type", { unseen: "Details" }, { right: "Amount" }, { right: "Balance" }]}
    >
      {lines.map((line) => (
        <tr key={line.id}>
          <td className="nowrap">{utcDate(line.at)}</td>
          <td>{kinds[line.kind]}</td>
          <td className="muted clip">{detailsOf(line)}</td>
          <td className="right">
            <span className="number" title={signedMoney(line.amount, exactMoney)}>
              <Signed text={signedMoney(line.amount)} />
            </span>
          </td>
          <td className="right">
            <Money usd={line.balance} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** The number of lines on the billing page. */
const NEWEST = 12

/** The newest lines of the current month, with links to the statements of several months. */
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
        <Empty title="No money moved this month.">
          <p>Each top-up, each credit and each day of requests adds a line with the balance after it.</p>
        </Empty>
      ) : (
        <LedgerTable ledger={{ ...data, lines: data.lines.slice(-NEWEST) }} newestFirst />
      )}
      {data === undefined || data.lines.length === 0 ? null : (
        <p className="body muted small">
          {data.lines.length > NEWEST
            ? `These are the newest ${NEWEST} of ${count(data.lines.length)} lines. The statement has all of them. `
            : ""}
          The requests of a day are one line, without their refunds.
        </p>
      )}
    </section>
  )
}
