import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useMemo } from "react"
import type { RequestReceipt } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { type Change, isCustom, type RangeSearch, timesOf } from "../../data/Ranges.ts"
import { type RequestFilters, requestPagesQuery, type RequestsRead, newestReceiptsQuery } from "../../data/Requests.ts"
import { moment } from "../../format/Figures.ts"
import { plural } from "../../format/Words.ts"
import { Filters } from "../../parts/Filters.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { RangePicker } from "../../parts/Range.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { BoundFilters } from "./BoundFilters.tsx"
import { ColumnChooser } from "./ColumnChooser.tsx"
import { Histogram } from "./Histogram.tsx"
import { RequestTable } from "./RequestTable.tsx"

/** The receipts of all pages and the live ones, each once, newest first. */
const useRows = (read: RequestsRead, live: boolean) => {
  const pages = useInfiniteQuery(requestPagesQuery(read))
  const newest = useQuery({ ...newestReceiptsQuery(read), enabled: live })
  const rows = useMemo(() => {
    const known = new Map<string, RequestReceipt>()
    for (const row of pages.data?.pages.flatMap(({ data }) => data) ?? []) known.set(row.id, row)
    for (const row of live ? (newest.data ?? []) : []) known.set(row.id, row)
    // Ids begin with their time, so their order is that of the requests.
    return [...known.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1))
  }, [pages.data, newest.data, live])
  return { pages, rows, newest }
}

interface RowsProps {
  readonly list: ReturnType<typeof useRows>
  readonly filtered: boolean
  readonly columns: string | undefined
}

/** The table of receipts or its empty state, and how far back a search has read. */
const Rows = ({ columns, filtered, list: { pages, rows } }: RowsProps) => {
  const searchedTo = pages.data?.pages.at(-1)?.searched_to ?? null
  return pages.isPending ? (
    <SkeletonRows rows={12} />
  ) : rows.length === 0 && !pages.hasNextPage ? (
    <Empty
      title={filtered ? "No request matches these filters." : "There is no request in this range."}
      action={
        filtered ? null : (
          <Link className="button" to="/playground">
            Open the playground
          </Link>
        )
      }
    >
      <p>
        {filtered
          ? "Remove a filter, or choose a longer range."
          : "Every request has a receipt here, with its price, its attempts and its cost."}
      </p>
    </Empty>
  ) : (
    <div className="refresh" aria-busy={pages.isPlaceholderData}>
      <RequestTable
        rows={rows}
        columns={columns}
        hasMore={pages.hasNextPage}
        isReading={pages.isFetchingNextPage || pages.isError}
        onMore={() => void pages.fetchNextPage()}
      />
      {pages.isFetchingNextPage && filtered && searchedTo !== null ? (
        <p className="body muted small" role="status">
          Searching requests before {moment(searchedTo)}…
        </p>
      ) : null}
    </div>
  )
}

const USUAL = "30d"

/** The state of the page in the URL. */
const useRequests = () => {
  const search = useSearch({ from: "/shell/requests" })
  const navigate = useNavigate({ from: "/requests" })
  const filters = useMemo<RequestFilters>(() => {
    const { key, maxCost, maxMs, minCost, minMs, model, operation, project, provider, status } = search
    return { key, maxCost, maxMs, minCost, minMs, model, operation, project, provider, status }
  }, [search])
  const change = (change: Change<typeof search>) =>
    void navigate({
      search: (before) => ({ ...before, ...change }) as never,
      replace: true,
      resetScroll: false
    })
  const custom = isCustom(search)
  const read: RequestsRead = {
    filters,
    isCustom: custom,
    rangeKey: custom ? `${search.from} ${search.to}` : (search.range ?? USUAL),
    times: () => timesOf(search, USUAL, Date.now() / 1_000)
  }
  return { search, change, filters, read }
}

/** The page that lists, filters and follows requests. */
export const RequestsPage = () => {
  const { change, filters, read, search } = useRequests()
  const { cols, live = false } = search
  const list = useRows(read, live)
  const { newest, pages, rows } = list
  const filtered = Object.values(filters).some((value) => value !== undefined)
  // Without any request there is no chart, and the empty state says why.
  const isEmpty = !filtered && pages.data !== undefined && rows.length === 0 && !pages.hasNextPage
  const bounded = [filters.minCost, filters.maxCost, filters.minMs, filters.maxMs].some((value) => value !== undefined)
  return (
    <Page
      title="Requests"
      tools={
        <>
          <RangePicker search={search} usual={USUAL} onChange={(range: RangeSearch) => change(range)} />
          <button
            type="button"
            className="button"
            aria-pressed={live}
            onClick={() => change({ live: live ? undefined : true })}
          >
            <Icon name={live ? "stop" : "requests"} />
            {live ? "Stop following" : "Follow live"}
          </button>
        </>
      }
    >
      <Filters filters={filters} onChange={(filter) => change(filter)}>
        <BoundFilters of={filters} onChange={(bounds) => change(bounds)} />
        {filtered ? (
          <button
            type="button"
            className="button plain"
            onClick={() => change(Object.fromEntries(Object.keys(filters).map((name) => [name, undefined])))}
          >
            Clear filters
          </button>
        ) : null}
        <span className="spacer" />
        <span className="muted small number" role="status">
          {pages.data === undefined
            ? ""
            : `${plural(rows.length, "request")}${pages.hasNextPage ? " loaded, more below" : ""}`}
          {live ? " · live" : ""}
        </span>
        <ColumnChooser chosen={cols} onChange={(cols) => change({ cols })} />
      </Filters>
      {pages.isError ? <Failed error={pages.error} onRetry={() => void pages.refetch()} /> : null}
      {live && newest.isError ? <Failed error={newest.error} onRetry={() => void newest.refetch()} /> : null}
      {pages.isError && pages.data === undefined ? null : (
        <section className="card" aria-label="Requests">
          {isEmpty ? null : (
            <div className="histogram">
              <Histogram
                times={read.times}
                rangeKey={read.rangeKey}
                filters={filters}
                onDay={(day) => change({ range: undefined, from: day, to: day })}
              />
              {bounded ? <p className="muted small">The chart ignores the filters by cost and latency.</p> : null}
            </div>
          )}
          <Rows list={list} filtered={filtered} columns={cols} />
        </section>
      )}
    </Page>
  )
}
