/** What each key or project spent in 30 days. */
import { useQuery } from "@tanstack/react-query"
import { Sparkline } from "../charts/Sparkline.tsx"
import { type Dimension, groupOf, totalsIn } from "../data/Series.ts"
import { usageQuery } from "../data/Usage.ts"
import { plural } from "../format/Words.ts"
import { Money } from "./Figures.tsx"
import { Skeleton } from "./States.tsx"

interface SpendProps {
  readonly by: Extract<Dimension, "key" | "project">
  readonly id: string
}

/** The spend of a key or a project, with its course. */
export const Spend = ({ by, id }: SpendProps) => {
  const { data, isError } = useQuery(usageQuery("30d", by))
  if (isError) return <span className="muted">—</span>
  if (data === undefined) return <Skeleton width={120} />
  const own = data.buckets.filter((bucket) => groupOf(bucket, by) === id)
  const sum = own.reduce((total, { cost_usd }) => total + cost_usd, 0)
  const requests = own.reduce((total, bucket) => total + bucket.requests, 0)
  return (
    <span className="spend" title={plural(requests, "request")}>
      {own.length === 0 ? null : <Sparkline values={totalsIn(own, data.span, "cost")} />}
      <Money usd={sum} />
    </span>
  )
}
