import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { type RefObject, useMemo, useRef } from "react"
import { Page } from "../../app/Page.tsx"
import { bucketsOf } from "../../charts/Buckets.ts"
import { PictureButton } from "../../charts/PictureButton.tsx"
import { downloadCsv } from "../../data/Csv.ts"
import { useNames } from "../../data/Names.ts"
import { type Change, intervalOf, intervalsOf, isCustom, type RangeSearch, timesOf } from "../../data/Ranges.ts"
import {
  type Figure,
  figures,
  type Grouping,
  groupings,
  seriesQuery,
  type UsageFilters
} from "../../data/UsageSeries.ts"
import { sentence } from "../../format/Words.ts"
import { Select } from "../../parts/Fields.tsx"
import { Filters } from "../../parts/Filters.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { RangePicker } from "../../parts/Range.tsx"
import { Empty, Failed, Skeleton } from "../../parts/States.tsx"
import { csvRowsOf, figureNames, type NameOf } from "./Figures.ts"
import { SeriesChart } from "./SeriesChart.tsx"
import { SeriesTable } from "./SeriesTable.tsx"

const figureOptions = figures.map((value) => ({ value, name: figureNames[value] }))
const groupOptions = [{ value: "", name: "No grouping" }, ...groupings.map((value) => ({ value, name: `By ${value}` }))]
const tops = [5, 8, 12, 20].map((top) => ({ value: String(top), name: `Top ${top}` }))

/** The state of the page in the URL, and its report. */
const useExplorer = () => {
  const search = useSearch({ from: "/shell/explorer" })
  const navigate = useNavigate({ from: "/explorer" })
  const { by = "model", figure = "cost_usd", interval, sum = false, top = 8 } = search
  const grouping: Grouping | undefined = by === "none" ? undefined : by
  const filters = useMemo<UsageFilters>(() => {
    const { key, model, operation, project, provider, status } = search
    return { key, model, operation, project, provider, status }
  }, [search])
  const change = (change: Change<typeof search>) =>
    void navigate({
      search: (before) => ({ ...before, ...change }) as never,
      replace: true,
      resetScroll: false
    })
  const times = () => timesOf(search, "7d", Date.now() / 1_000)
  const chosen = intervalOf(times(), interval)
  const rangeKey = `${isCustom(search) ? `${search.from} ${search.to}` : (search.range ?? "7d")} ${chosen}`
  const report = useQuery(
    seriesQuery({
      times,
      rangeKey,
      by: grouping,
      rank: figure,
      top,
      filters,
      interval: () => chosen
    })
  )
  return {
    search,
    change,
    figure,
    grouping,
    filters,
    isCumulative: sum,
    top,
    times,
    chosen,
    report
  }
}

interface ToolbarProps {
  readonly of: ReturnType<typeof useExplorer>
  readonly nameOf: NameOf
  readonly chart: RefObject<HTMLElement | null>
}

/** The controls of the chart and the downloads. */
const Toolbar = ({ chart, nameOf, of }: ToolbarProps) => {
  const { change, chosen, figure, grouping, isCumulative, report, times, top } = of
  const { data } = report
  const isAdditive = figure !== "latency_ms"
  const intervalOptions = intervalsOf(times()).map((value) => ({ value, name: `Per ${value}` }))
  return (
    <section className="toolbar" aria-label="What the chart shows">
      <Select
        label="Figure"
        value={figure}
        options={figureOptions}
        onChange={(value) => change({ figure: value as Figure })}
      />
      <Select
        label="Group by"
        value={grouping ?? ""}
        options={groupOptions}
        onChange={(value) => change({ by: value === "" ? "none" : (value as Grouping) })}
      />
      <Select
        label="Interval"
        value={chosen}
        options={intervalOptions}
        onChange={(value) => change({ interval: value as typeof chosen })}
      />
      {grouping === undefined ? null : (
        <Select
          label="Series"
          value={String(top)}
          options={tops}
          onChange={(value) => change({ top: Number(value) })}
        />
      )}
      <label className="switch">
        <input
          type="checkbox"
          checked={isCumulative && isAdditive}
          disabled={!isAdditive}
          onChange={({ target }) => change({ sum: target.checked ? true : undefined })}
        />
        Cumulative
      </label>
      <span className="spacer" />
      <PictureButton
        of={chart}
        title={`${figureNames[figure]} by ${grouping ?? "time"}`}
        disabled={data === undefined || data.data.length === 0}
      />
      <button
        type="button"
        className="button"
        disabled={data === undefined || data.data.length === 0}
        onClick={() => data && downloadCsv(`usage by ${grouping ?? "time"}`, csvRowsOf(data, nameOf))}
      >
        <Icon name="download" />
        Download CSV
      </button>
    </section>
  )
}

/** The page that charts usage by any group and filter. */
export const ExplorerPage = () => {
  const explorer = useExplorer()
  const { change, figure, filters, grouping, isCumulative, report, search } = explorer
  const nameOf = useNames(grouping)
  const { data, isPlaceholderData } = report
  const chart = useRef<HTMLElement>(null)
  const isAdditive = figure !== "latency_ms"
  const narrow = (group: string) => grouping !== undefined && change({ [grouping]: group })
  return (
    <Page
      title="Explorer"
      tools={<RangePicker search={search} usual="7d" onChange={(range: RangeSearch) => change(range)} />}
    >
      <Toolbar of={explorer} nameOf={nameOf} chart={chart} />
      <Filters filters={filters} onChange={(filter) => change(filter)} />
      {report.isError ? <Failed error={report.error} onRetry={() => void report.refetch()} /> : null}
      {data === undefined && report.isError ? null : (
        <section className="card refresh" aria-label="Chart" aria-busy={isPlaceholderData} ref={chart}>
          <div className="body">
            {data === undefined ? (
              <Skeleton height={352} />
            ) : data.data.length === 0 ? (
              <Empty title="There is no usage in this range.">
                <p>Choose a longer range, or remove a filter.</p>
              </Empty>
            ) : (
              <SeriesChart
                report={data}
                figure={figure}
                isCumulative={isCumulative && isAdditive}
                buckets={bucketsOf(data.buckets, data.interval)}
                nameOf={nameOf}
                onChoose={grouping === undefined ? undefined : narrow}
              />
            )}
          </div>
        </section>
      )}
      {data === undefined || data.data.length === 0 ? null : (
        <div className="refresh" aria-busy={isPlaceholderData}>
          <SeriesTable
            report={data}
            figure={figure}
            title={grouping === undefined ? "Group" : sentence(grouping)}
            nameOf={nameOf}
            onChoose={grouping === undefined ? undefined : narrow}
          />
        </div>
      )}
    </Page>
  )
}
