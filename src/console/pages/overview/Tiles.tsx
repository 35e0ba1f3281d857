import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { newestQuery } from "../../data/Queries.ts"
import { type Dimension, figureOf, type Metric, type Range, totalsIn } from "../../data/Series.ts"
import { usageBeforeQuery, usageQuery } from "../../data/Usage.ts"
import { brief, change, count } from "../../format/Figures.ts"
import { exactMoney, money } from "../../format/Money.ts"
import { Tile } from "../../parts/Tile.tsx"

const MOST_FAILED = 100

const tiles = [
  { label: "Spend", metric: "cost", show: money, exact: exactMoney },
  { label: "Requests", metric: "requests", show: brief, exact: count },
  { label: "Tokens", metric: "tokens", show: brief, exact: count }
] as const satisfies ReadonlyArray<{
  metric: Metric
  label: string
  show: (n: number) => string
  exact: (n: number) => string
}>

/** Failed requests of the span: they are free, so usage does not count them, and receipts do. */
const ErrorsTile = ({ by, range }: { readonly by: Dimension; readonly range: Range }) => {
  const failed = useQuery(newestQuery({ status: "failed" }, MOST_FAILED, false))
  const { data } = useQuery({ ...usageQuery(range, by), placeholderData: keepPreviousData })
  const span = data?.span
  const inSpan = failed.data?.filter(({ created_at }) => span !== undefined && created_at >= span.start)
  const values =
    span === undefined || inSpan === undefined
      ? undefined
      : Array.from({ length: (span.end - span.start) / span.width }, (_, at) => {
          const from = span.start + at * span.width
          return inSpan.filter(({ created_at }) => created_at >= from && created_at < from + span.width).length
        })
  const figure =
    inSpan === undefined ? undefined : inSpan.length >= MOST_FAILED ? `${MOST_FAILED}+` : count(inSpan.length)
  return <Tile label="Failed requests" figure={figure} change="All free" values={values} />
}

export const Tiles = ({ by, range }: { readonly by: Dimension; readonly range: Range }) => {
  const { data } = useQuery({ ...usageQuery(range, by), placeholderData: keepPreviousData })
  const before = useQuery(usageBeforeQuery(range))
  return (
    <section className="tiles" aria-label="Figures of the range">
      {tiles.map(({ exact, label, metric, show }) => {
        const now = data && figureOf(data.totals, metric)
        const earlier = before.data && figureOf(before.data, metric)
        const changed = now === undefined || earlier === undefined ? undefined : change(now, earlier)
        return (
          <Tile
            key={metric}
            label={label}
            figure={now === undefined ? undefined : show(now)}
            {...(now === undefined ? {} : { title: exact(now) })}
            change={changed === undefined ? (earlier === 0 ? "None before" : undefined) : `${changed} to before`}
            values={data && totalsIn(data.buckets, data.span, metric)}
          />
        )
      })}
      <ErrorsTile by={by} range={range} />
    </section>
  )
}
