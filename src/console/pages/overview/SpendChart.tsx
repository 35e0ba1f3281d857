import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { StackedBars } from "../../charts/StackedBars.tsx"
import { useNames } from "../../data/Names.ts"
import { type Dimension, dimensions, HOUR, type Metric, type Range, seriesOf, type Span } from "../../data/Series.ts"
import { usageQuery } from "../../data/Usage.ts"
import { brief } from "../../format/Figures.ts"
import { axisMoney, money } from "../../format/Money.ts"
import { sentence } from "../../format/Words.ts"
import { Segments } from "../../parts/Fields.tsx"
import { Empty, Skeleton } from "../../parts/States.tsx"

const MOST_SERIES = 8

const metrics = [
  { value: "cost", name: "Spend" },
  { value: "requests", name: "Requests" },
  { value: "tokens", name: "Tokens" }
] as const

const hour = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" })
// A day of usage is a day in UTC, so its name is that of UTC as well.
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" })
const longHour = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" })
const longDay = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeZone: "UTC" })

const bucketsOf = ({ end, start, width }: Span) =>
  Array.from({ length: (end - start) / width }, (_, at) => {
    const time = (start + at * width) * 1_000
    return width === HOUR
      ? { short: hour.format(time), long: longHour.format(time) }
      : { short: day.format(time), long: `${longDay.format(time)}, UTC` }
  })

/** What was used over time, stacked by a dimension. */
export const SpendChart = ({ range }: { readonly range: Range }) => {
  const search = useSearch({ from: "/shell/overview" })
  const navigate = useNavigate({ from: "/overview" })
  const by: Dimension = search.by ?? "model"
  const metric: Metric = search.metric ?? "cost"
  const { data } = useQuery({ ...usageQuery(range, by), placeholderData: keepPreviousData })
  const nameOf = useNames(by)
  const choose = (change: { by?: Dimension; metric?: Metric }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false })
  const series = data && seriesOf(data.buckets, data.span, { by, metric, most: MOST_SERIES })
  const isMoney = metric === "cost"
  return (
    <section className="card" aria-label="Usage over time">
      <header>
        <Segments label="Figure" value={metric} options={metrics} onChange={(value) => choose({ metric: value })} />
        <span className="muted small">by</span>
        <Segments
          label="Stacked by"
          value={by}
          options={dimensions.map((value) => ({ value, name: sentence(value) }))}
          onChange={(value) => choose({ by: value })}
        />
      </header>
      <div className="body">
        {series === undefined ? (
          <Skeleton height={304} />
        ) : series.length === 0 ? (
          <Empty title="Nothing was used in this range.">
            <p>Send a request, or choose a longer range.</p>
          </Empty>
        ) : (
          <StackedBars
            label={`${sentence(metric)} by ${by}. The tables below have the figures.`}
            buckets={bucketsOf(data!.span)}
            format={isMoney ? money : brief}
            axis={isMoney ? axisMoney : brief}
            series={series.map(({ group, total, values }, at) => ({
              ...{ name: nameOf(group), values, total, colour: group === undefined ? "other" : String(at + 1) },
              onChoose:
                by === "model" && typeof group === "string"
                  ? () => void navigate({ to: "/requests", search: { model: group } })
                  : undefined
            }))}
          />
        )}
      </div>
    </section>
  )
}
