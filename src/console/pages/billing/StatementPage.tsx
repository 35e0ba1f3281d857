import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { BillingDetailsReport } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { downloadCsv } from "../../data/Csv.ts"
import { ledgerQuery } from "../../data/Ledgers.ts"
import { billingDetailsQuery, sessionQuery } from "../../data/Queries.ts"
import { isMonth, type Ledger } from "../../data/Statement.ts"
import { monthName, utcDate } from "../../format/Figures.ts"
import { Money } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { csvOfLedger, LedgerTable } from "./Ledger.tsx"

type Details = BillingDetailsReport["data"]

interface StatementFactsProps {
  readonly email: string | undefined
  readonly month: string
  readonly ledger: Ledger
  readonly details: Details
}

/** The billing details that the owner entered. */
const Company = ({ details }: { readonly details: Details }) => {
  const { address_lines: lines, company_name: name, tax_id: taxId } = details
  return (
    <>
      {name === null ? null : <dt>Company</dt>}
      {name === null ? null : <dd className="strong">{name}</dd>}
      {lines.length === 0 ? null : <dt>Address</dt>}
      {lines.length === 0 ? null : <dd className="lines">{lines.join("\n")}</dd>}
      {taxId === null ? null : <dt>Tax id</dt>}
      {taxId === null ? null : <dd>{taxId}</dd>}
    </>
  )
}

/** The account and the sums of the month. */
const StatementFacts = ({ details, email, ledger, month }: StatementFactsProps) => (
  <dl className="body facts">
    <Company details={details} />
    <dt>Account</dt>
    <dd>{email}</dd>
    <dt>Period</dt>
    <dd>{monthName(month)}, days in UTC</dd>
    <dt>Created</dt>
    <dd>{utcDate(Date.now() / 1_000)}</dd>
    <dt>Opening balance</dt>
    <dd>
      <Money usd={ledger.opening} />
    </dd>
    <dt>Paid in</dt>
    <dd>
      <Money usd={ledger.paidIn} />
    </dd>
    <dt>Spent</dt>
    <dd>
      <Money usd={ledger.spent} />
    </dd>
    <dt>Closing balance</dt>
    <dd className="strong">
      <Money usd={ledger.closing} />
    </dd>
  </dl>
)

/** The statement of a month, to print or to save as a file. It waits for the billing details, which must not be missing in print. */
export const StatementPage = () => {
  const { month } = useParams({ from: "/shell/billing/statements/$month" })
  const known = isMonth(month, Date.now() / 1_000)
  const session = useQuery({ ...sessionQuery, enabled: false })
  const ledger = useQuery({ ...ledgerQuery(month), enabled: known })
  const details = useQuery({ ...billingDetailsQuery, enabled: known })
  const data =
    ledger.data === undefined || details.data === undefined ? undefined : { ledger: ledger.data, details: details.data }
  const error = ledger.error ?? details.error
  const retry = () => void Promise.all([ledger.refetch(), details.refetch()])
  const title = known ? `Statement, ${monthName(month)}` : "Statement"
  return (
    <Page
      title={title}
      before={
        <Link className="button square" to="/billing" aria-label="Back to billing">
          <Icon name="back" />
        </Link>
      }
      tools={
        <>
          <button
            type="button"
            className="button"
            disabled={data === undefined}
            onClick={() => data && downloadCsv(`statement ${month}`, csvOfLedger(data.ledger))}
          >
            <Icon name="download" />
            Download CSV
          </button>
          <button type="button" className="button primary" disabled={data === undefined} onClick={() => window.print()}>
            Print
          </button>
        </>
      }
    >
      {known ? null : <Empty title="The address must end with a month of the last ten years, such as 2026-03." />}
      {error === null ? null : <Failed error={error} onRetry={retry} />}
      {known && (data !== undefined || error === null) ? (
        <section className="card statement" aria-label={title}>
          {data === undefined ? (
            <SkeletonRows rows={12} />
          ) : (
            <>
              <StatementFacts email={session.data?.account.email} month={month} {...data} />
              {data.ledger.lines.length === 0 ? (
                <Empty title="No money moved in this month." />
              ) : (
                <LedgerTable ledger={data.ledger} />
              )}
            </>
          )}
        </section>
      ) : null}
    </Page>
  )
}
