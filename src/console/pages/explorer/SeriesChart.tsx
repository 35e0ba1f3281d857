import type { UsageSeriesReport } from "../../../client/Contract.ts"
import type { Bucket } from "../../charts/Buckets.ts"
import { TimeSeries } from "../../charts/TimeSeries.tsx"
import { type ShownFigure, totalOf, valuesOf } from "../../data/UsageSeries.ts"
import { figureNames, groupNameOf, type NameOf, showFigure, showOnAxis } from "./Figures.ts"

interface SeriesChartProps {
  readonly report: UsageSeriesReport
  readonly figure: ShownFigure
  readonly isCumulative: boolean
  readonly buckets: ReadonlyArray<Bucket>
  readonly nameOf: NameOf
  /** Filters by a group; undefined without groups. */
  readonly onChoose: ((group: string) => void) | undefined
  readonly height?: number
}

const SERIES_COLOURS = 8

/** The series of a report: stacked bars, or lines for latency, which does not add up. */
export const SeriesChart = (props: SeriesChartProps) => {
  const { buckets, figure, height, isCumulative, nameOf, onChoose, report } = props
  const kind = figure === "latency_ms" ? "lines" : "bars"
  return (
    <TimeSeries
      kind={kind}
      label={`${figureNames[figure]} over time. The table has the figures.`}
      buckets={buckets}
      format={(value) => showFigure(figure, value)}
      axis={(value, step) => showOnAxis(figure, value, step)}
      {...(height === undefined ? {} : { height })}
      series={report.data.map((one, at) => ({
        name: groupNameOf(one, report, nameOf),
        values: valuesOf(one, figure, isCumulative),
        total: totalOf(one.totals, figure),
        colour: one.is_rest ? "other" : String((at % SERIES_COLOURS) + 1),
        onChoose: onChoose === undefined || one.group === null ? undefined : () => onChoose(one.group!)
      }))}
    />
  )
}
