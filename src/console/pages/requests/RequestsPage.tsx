import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useMemo, useState } from "react"
import type { RequestReceipt } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { modelsQuery, newestQuery, type RequestStatus, requestsQuery } from "../../data/Queries.ts"
import { plural } from "../../format/Words.ts"
import { Select } from "../../parts/Fields.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { RequestTable } from "./RequestTable.tsx"

const statuses = [
  { value: "", name: "Every status" },
  { value: "open", name: "Open" },
  { value: "succeeded", name: "Succeeded" },
  { value: "failed", name: "Failed" },
  { value: "cancelled", name: "Cancelled" }
]

const NEWEST = 50

/** The rows of all pages, with the newest in front, each once. */
const useRows = (filter: { status?: RequestStatus | undefined; model?: string | undefined }, live: boolean) => {
  const pages = useInfiniteQuery(requestsQuery(filter))
  const newest = useQuery({ ...newestQuery(filter, NEWEST, live), enabled: live })
  const rows = useMemo(() => {
    const known = new Map<string, RequestReceipt>()
    for (const row of pages.data?.pages.flatMap(({ data }) => data) ?? []) known.set(row.id, row)
    for (const row of live ? (newest.data ?? []) : []) known.set(row.id, row)
    // Ids begin with their time, so their order is that of the requests.
    return [...known.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1))
  }, [pages.data, newest.data, live])
  return { pages, rows }
}

/** Filters, which stand in the URL. */
const Filters = () => {
  const { live = false, model, status } = useSearch({ from: "/shell/requests" })
  const navigate = useNavigate({ from: "/requests" })
  const { data: models = [] } = useQuery(modelsQuery)
  const [typed, setTyped] = useState(model ?? "")
  const change = (change: {
    model?: string | undefined
    status?: RequestStatus | undefined
    live?: true | undefined
  }) => void navigate({ search: (before) => ({ ...before, ...change }) as never, replace: true })
  return (
    <div className="filters">
      <form
        className="grow"
        onSubmit={(event) => {
          event.preventDefault()
          change({ model: typed.trim() === "" ? undefined : typed.trim() })
        }}
      >
        <input
          className="input"
          data-search=""
          type="search"
          aria-label="Model"
          placeholder="Model, such as gpt-4o-mini"
          list="models"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
            // The clear button of the field, and a choice from its list, send no form.
            if (event.target.value === "") change({ model: undefined })
            else if (models.some(({ id }) => id === event.target.value)) change({ model: event.target.value })
          }}
        />
        <datalist id="models">
          {models.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
      </form>
      <Select
        label="Status"
        value={status ?? ""}
        options={statuses}
        onChange={(value) => change({ status: value === "" ? undefined : (value as RequestStatus) })}
      />
      <button
        type="button"
        className="button"
        aria-pressed={live}
        onClick={() => change({ live: live ? undefined : true })}
      >
        <Icon name={live ? "stop" : "requests"} />
        {live ? "Stop the tail" : "Follow live"}
      </button>
      {model === undefined && status === undefined ? null : (
        <button
          type="button"
          className="button plain"
          onClick={() => {
            setTyped("")
            change({ model: undefined, status: undefined })
          }}
        >
          <Icon name="close" />
          Clear filters
        </button>
      )}
    </div>
  )
}

export const RequestsPage = () => {
  const { live = false, model, status } = useSearch({ from: "/shell/requests" })
  const { pages, rows } = useRows({ model, status }, live)
  const filtered = model !== undefined || status !== undefined
  return (
    <Page
      title="Requests"
      tools={
        <span className="muted small number" role="status">
          {pages.isPending ? "" : `${plural(rows.length, "request")}${pages.hasNextPage ? " read, more below" : ""}`}
          {live ? " · live" : ""}
        </span>
      }
    >
      <Filters />
      {pages.isError ? <Failed error={pages.error} onRetry={() => void pages.refetch()} /> : null}
      <section className="card" aria-label="Requests">
        {pages.isPending ? (
          <SkeletonRows rows={12} />
        ) : rows.length === 0 && !pages.hasNextPage ? (
          <Empty title={filtered ? "No request fits these filters." : "There is no request yet."}>
            <p>
              {filtered
                ? "Clear a filter, or wait: the list follows live when you ask it to."
                : "Every request has a receipt here, with its price, its attempts and its cost."}
            </p>
          </Empty>
        ) : (
          <RequestTable
            rows={rows}
            hasMore={pages.hasNextPage}
            isReading={pages.isFetchingNextPage}
            onMore={() => void pages.fetchNextPage()}
          />
        )}
      </section>
    </Page>
  )
}
