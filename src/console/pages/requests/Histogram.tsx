import { useQuery } from "@tanstack/react-query"
import { bucketsOf } from "../../charts/Buckets.ts"
import { TimeSeries } from "../../charts/TimeSeries.tsx"
import { dayOf, intervalOf, type Times } from "../../data/Ranges.ts"
import { seriesQuery, type UsageFilters } from "../../data/UsageSeries.ts"
import { brief } from "../../format/Figures.ts"
import { statusName } from "../../format/Words.ts"
import { Skeleton } from "../../parts/States.tsx"

const HEIGHT = 104
const statuses = ["succeeded", "cancelled", "failed"]

interface HistogramProps {
  readonly times: () => Times
  readonly rangeKey: string
  readonly filters: UsageFilters
  /** Narrows the range to a day. */
  readonly onDay: (day: string) => void
}

/** How many requests ended in which way, over the range of the table. */
export const Histogram = ({ filters, onDay, rangeKey, times }: HistogramProps) => {
  const { data, isError } = useQuery(
    seriesQuery({
      times,
      rangeKey,
      by: "status",
      rank: "requests",
      filters,
      interval: (times) => intervalOf(times, undefined)
    })
  )
  if (isError) return null
  if (data === undefined) return <Skeleton height={HEIGHT} />
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
