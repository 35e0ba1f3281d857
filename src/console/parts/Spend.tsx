/** What a key or a project spent in 30 days, and which part of its requests failed. */
import { useQuery } from "@tanstack/react-query"
import { Sparkline } from "../charts/Sparkline.tsx"
import { spendQuery } from "../data/Spend.ts"
import { spentOf } from "../data/Spent.ts"
import { count, share } from "../format/Figures.ts"
import { plural } from "../format/Words.ts"
import { Money } from "./Figures.tsx"
import { Skeleton } from "./States.tsx"

interface SpendProps {
  readonly by: "key" | "project"
  readonly id: string
}

const unknown = (
  <span className="muted" title="Only the 20 that spent most are shown here.">
    —
  </span>
)

/** The spend with its course. */
export const Spend = ({ by, id }: SpendProps) => {
  const { data, isError } = useQuery(spendQuery(by))
  if (data === undefined) return isError ? unknown : <Skeleton width={110} />
  const spent = spentOf(data, id)
  if (spent === undefined) return unknown
  return (
    <span className="spend" title={plural(spent.requests, "request")}>
      {spent.requests === 0 ? null : <Sparkline values={spent.costs} />}
      <Money usd={spent.cost} />
    </span>
  )
}

/** The part of the requests that failed. */
export const Failures = ({ by, id }: SpendProps) => {
  const { data } = useQuery(spendQuery(by))
  const spent = data === undefined ? undefined : spentOf(data, id)
  if (spent === undefined || spent.requests === 0) return <span className="muted">—</span>
  return (
    <span
      className={spent.failed === 0 ? "number muted" : "number bad-text"}
      title={`${count(spent.failed)} of ${plural(spent.requests, "request")} failed`}
    >
      {share(spent.failed / spent.requests)}
    </span>
  )
}
