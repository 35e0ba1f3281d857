import { useInfiniteQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import type { OperatorAccount } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { accountsQuery } from "../../data/Operator.ts"
import { signedPercent } from "../../format/Figures.ts"
import { Select } from "../../parts/Fields.tsx"
import { FilterField } from "../../parts/FilterField.tsx"
import { Ago, Money, Status } from "../../parts/Figures.tsx"
import { Table } from "../../parts/Table.tsx"
import { PagedList } from "../../parts/PagedList.tsx"

const states = [
  { value: "", name: "Any state" },
  { value: "active", name: "Active" },
  { value: "suspended", name: "Suspended" },
  { value: "closed", name: "Closed" }
]

/** The plan and the own markup of an account. */
const Prices = ({ of }: { readonly of: OperatorAccount }) => {
  if (of.plan === null && of.markup_basis_points === 0) return <span className="muted">catalogue</span>
  return (
    <span className="chips">
      {of.plan === null ? null : <span className="chip">{of.plan.name}</span>}
      {of.markup_basis_points === 0 ? null : <span className="chip">{signedPercent(of.markup_basis_points)}</span>}
    </span>
  )
}

const Row = ({ row }: { readonly row: OperatorAccount }) => (
  <tr className={row.state === "closed" ? "off" : ""}>
    <th scope="row">
      <span className="stack broad">
        <Link className="clip" to="/operator/accounts/$id" params={{ id: row.id }} title={row.email}>
          {row.email}
        </Link>
        <code className="muted">{row.id}</code>
      </span>
    </th>
    <td>
      <Status of={row.state} />
    </td>
    <td>
      <Prices of={row} />
    </td>
    <td className="right">
      <Money usd={row.balance_usd} />
    </td>
    <td className="right">
      <Money usd={row.held_usd} />
    </td>
    <td className="right">
      <Money usd={row.play_balance_usd} />
    </td>
    <td className="right">
      <Ago at={row.created_at} />
    </td>
  </tr>
)

/** The operator's page that finds accounts. */
export const AccountsPage = () => {
  const search = useSearch({ from: "/operator/operator/accounts" })
  const navigate = useNavigate({ from: "/operator/accounts" })
  const accounts = useInfiniteQuery(accountsQuery(search))
  const change = (next: { readonly q?: string; readonly state?: string }) =>
    void navigate({
      search: (before) =>
        Object.fromEntries(Object.entries({ ...before, ...next }).filter(([, value]) => value !== "")) as never,
      replace: true
    })
  return (
    <Page title="Accounts">
      <div className="filters">
        <FilterField
          isSearch
          label="Find accounts"
          placeholder="A part of the email address, or the start of the id"
          maxLength={256}
          value={search.q ?? ""}
          onChange={(q) => change({ q })}
        />
        <Select label="State" value={search.state ?? ""} options={states} onChange={(state) => change({ state })} />
      </div>
      <section className="card" aria-label="Accounts">
        <PagedList
          of={accounts}
          name="accounts"
          rows={10}
          empty={
            search.q === undefined && search.state === undefined
              ? { title: "There is no account yet.", about: "An account opens when its owner signs up." }
              : {
                  title: "No account matches.",
                  about: "Search for a part of the email address or the start of the id, and choose “Any state”."
                }
          }
        >
          {(rows) => (
            <Table
              label="accounts"
              columns={[
                "Account",
                "State",
                "Prices",
                { right: "Balance" },
                { right: "Held" },
                { right: "Simulated money" },
                { right: "Opened" }
              ]}
            >
              {rows.map((row) => (
                <Row key={row.id} row={row} />
              ))}
            </Table>
          )}
        </PagedList>
      </section>
    </Page>
  )
}
