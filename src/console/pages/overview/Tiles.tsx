import type { UsageSeriesReport } from "../../../client/Contract.ts"
import { type ShownFigure, totalOf, valuesOf } from "../../data/UsageSeries.ts"
import { brief, change, count, share } from "../../format/Figures.ts"
import { exactMoney, money } from "../../format/Money.ts"
import { Tile } from "../../parts/Tile.tsx"

const tiles = [
  { label: "Spend", figure: "cost_usd", show: money, exact: exactMoney },
  { label: "Requests", figure: "requests", show: brief, exact: count },
  { label: "Tokens", figure: "tokens", show: brief, exact: count },
  { label: "Failed requests", figure: "failed_requests", show: brief, exact: count }
] as const satisfies ReadonlyArray<{
  figure: ShownFigure
  label: string
  show: (n: number) => string
  exact: (n: number) => string
}>

/** The sum of a figure over all series in each bucket. */
const sumsOf = ({ buckets, data }: UsageSeriesReport, figure: ShownFigure): ReadonlyArray<number> =>
  buckets.map((_, at) => data.reduce((sum, one) => sum + (valuesOf(one, figure, false)[at] ?? 0), 0))

interface TilesProps {
  readonly report: UsageSeriesReport | undefined
  readonly before: UsageSeriesReport | undefined
  readonly failed: boolean
}

/** The figures of the range, with their sparklines and their change from the range before. */
export const Tiles = ({ before, failed, report }: TilesProps) => (
  <section className="tiles" aria-label="Figures of the range">
    {tiles.map(({ exact, figure, label, show }) => {
      const now = report && totalOf(report.totals, figure)
      const earlier = before && totalOf(before.totals, figure)
      const words = now === undefined || earlier === undefined ? undefined : change(now, earlier, show)
      const part = figure === "failed_requests" && report !== undefined && report.totals.requests > 0
      return (
        <Tile
          key={figure}
          label={label}
          figure={now === undefined ? (failed ? "—" : undefined) : show(now)}
          {...(now === undefined ? {} : { title: exact(now) })}
          change={part ? `${share((now ?? 0) / report.totals.requests)} of requests` : words}
          values={report && sumsOf(report, figure)}
        />
      )
    })}
  </section>
)
