import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import type { OperatorReceipt } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { requestIdIn } from "../../data/Addresses.ts"
import { accountQuery, accountRequestsQuery, anyRequestsQuery } from "../../data/Operator.ts"
import { ago } from "../../format/Figures.ts"
import { Select } from "../../parts/Fields.tsx"
import { FilterField } from "../../parts/FilterField.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { PagedList, type Pages } from "../../parts/PagedList.tsx"
import { toast } from "../../parts/Toasts.tsx"
import { MarginTable } from "./MarginTable.tsx"

const statuses = [
  { value: "", name: "Any status" },
  { value: "succeeded", name: "Succeeded" },
  { value: "failed", name: "Failed" },
  { value: "cancelled", name: "Cancelled" },
  { value: "open", name: "Open" }
]

/** Opens the request of a pasted id. */
const RequestIdField = () => {
  const navigate = useNavigate()
  return (
    <input
      className="input grow mono"
      type="search"
      data-search=""
      aria-label="Open a request by its id"
      placeholder="Paste a request id: req_…"
      onChange={({ target }) => {
        const id = requestIdIn(target.value)
        if (id !== undefined) void navigate({ to: "/operator/requests/$id", params: { id } })
      }}
      onKeyDown={({ currentTarget, key }) => {
        if (key === "Enter" && currentTarget.value.trim() !== "")
          toast("A request id must be req_ and 26 letters and digits. Paste the whole id.")
      }}
    />
  )
}

const AccountChip = ({ id, onRemove }: { readonly id: string; readonly onRemove: () => void }) => {
  const { data } = useQuery(accountQuery(id))
  return (
    <button
      type="button"
      className="chip remove"
      aria-label={`Remove the filter Account ${data?.email ?? id}`}
      onClick={onRemove}
    >
      Account: {data?.email ?? id}
      <Icon name="close" />
    </button>
  )
}

/** How far back the search has read, if it has not read everything. */
const searchedTo = (page: { readonly searched_to: number | null } | undefined): string =>
  page?.searched_to == null ? "" : ` Searched back to ${ago(page.searched_to)}.`

/** The operator's page of the requests of all accounts or of one. */
export const AnyRequestsPage = () => {
  const { account, ...filters } = useSearch({ from: "/operator/operator/requests" })
  const navigate = useNavigate({ from: "/operator/requests" })
  const any = useInfiniteQuery({ ...anyRequestsQuery(filters), enabled: account === undefined })
  const own = useInfiniteQuery({ ...accountRequestsQuery(account ?? "", filters), enabled: account !== undefined })
  const requests = account === undefined ? any : own
  const change = (next: Readonly<Record<string, string>>) =>
    void navigate({
      search: (before) =>
        Object.fromEntries(Object.entries({ ...before, ...next }).filter(([, value]) => value !== "")) as never,
      replace: true
    })
  const last = requests.data?.pages.at(-1)
  return (
    <Page title="Requests">
      <div className="filters many">
        <RequestIdField />
        <Select
          label="Status"
          value={filters.status ?? ""}
          options={statuses}
          onChange={(status) => change({ status })}
        />
        <FilterField label="Model" value={filters.model ?? ""} onChange={(model) => change({ model })} />
        <FilterField label="Provider" value={filters.provider ?? ""} onChange={(provider) => change({ provider })} />
        {account === undefined ? null : <AccountChip id={account} onRemove={() => change({ account: "" })} />}
      </div>
      <section className="card" aria-label="Requests">
        <PagedList
          of={requests as Pages<OperatorReceipt>}
          name="requests"
          rows={12}
          empty={{
            title: "No request matches.",
            about: "Model and provider match whole names, such as gpt-4o-mini and openai. Remove a filter to see more."
          }}
        >
          {(rows) =>
            rows.length === 0 ? (
              <p className="body muted">No request matches yet.{searchedTo(last)}</p>
            ) : (
              <MarginTable rows={rows} owned={account === undefined} />
            )
          }
        </PagedList>
      </section>
    </Page>
  )
}
