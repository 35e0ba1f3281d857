import { useQuery } from "@tanstack/react-query"
import { bucketsOf } from "../../charts/Buckets.ts"
import { TimeSeries } from "../../charts/TimeSeries.tsx"
import { dayOf, intervalOf, type Times } from "../../data/Ranges.ts"
import { seriesQuery, type UsageFilters } from "../../data/UsageSeries.ts"
import { brief } from "../../format/Figures.ts"
import { statusName } from "../../format/Words.ts"
import { Failed, Skeleton } from "../../parts/States.tsx"

const HEIGHT = 104
const statuses = ["succeeded", "cancelled", "failed"]

interface HistogramProps {
  readonly times: () => Times
  readonly rangeKey: string
  readonly filters: UsageFilters
  /** Limits the range to a day. */
  readonly onDay: (day: string) => void
}

/** A chart of the ended requests by status, over the range of the table. */
export const Histogram = ({ filters, onDay, rangeKey, times }: HistogramProps) => {
  const { data, error, refetch } = useQuery(
    seriesQuery({
      times,
      rangeKey,
      by: "status",
      rank: "requests",
      filters,
      interval: (times) => intervalOf(times, undefined)
    })
  )
  if (data === undefined) {
    return error === null ? <Skeleton height={HEIGHT} /> : <Failed error={error} onRetry={() => void refetch()} />
  }
  const series = statuses.flatMap((status) => {
    const found = data.data.find(({ group }) => group === status)
    if (found === undefined) return []
    const { totals, values } = found
    return {
      name: statusName(status),
      values: values.requests,
      total: totals.requests,
      colour: status,
      onChoose: undefined
    }
  })
  return (
    <TimeSeries
      label={`Ended requests over time: ${series.map(({ name, total }) => `${name} ${total}`).join(", ") || "none"}`}
      buckets={bucketsOf(data.buckets, data.interval)}
      series={series}
      format={brief}
      axis={brief}
      height={HEIGHT}
      legend={false}
      {...(data.interval === "day" ? { onPick: (at: number) => onDay(dayOf(data.buckets[at] ?? 0)) } : {})}
    />
  )
}
