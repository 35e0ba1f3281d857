import { useInfiniteQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { OperatorChange } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { changesQuery } from "../../data/Operator.ts"
import { AuditTable } from "../../parts/AuditTable.tsx"
import { PagedList } from "../../parts/PagedList.tsx"

const Account = ({ of: { account_id, email } }: { readonly of: OperatorChange }) =>
  account_id === null ? (
    <span className="muted">—</span>
  ) : (
    <Link className="clip" to="/operator/accounts/$id" params={{ id: account_id }}>
      {email}
    </Link>
  )

/** The audit log of operators. */
export const ChangesPage = () => {
  const changes = useInfiniteQuery(changesQuery)
  return (
    <Page title="Audit">
      <section className="card" aria-label="Audit log of operators">
        <PagedList of={changes} name="events" rows={10} empty={{ title: "Operators have changed nothing yet." }}>
          {(lines) => <AuditTable lines={lines} accountOf={(line) => <Account of={line} />} />}
        </PagedList>
      </section>
    </Page>
  )
}
