/** The spend of a key or a project in 30 days, and the share of its requests that failed. */
import { useQuery } from "@tanstack/react-query"
import { Sparkline } from "../charts/Sparkline.tsx"
import { MAX_GROUPS, spendQuery } from "../data/Spend.ts"
import { groupSpendOf } from "../data/GroupSpend.ts"
import { count, share } from "../format/Figures.ts"
import { plural } from "../format/Words.ts"
import { Money } from "./Figures.tsx"
import { Skeleton } from "./States.tsx"

interface SpendProps {
  readonly by: "key" | "project"
  readonly id: string
}

/** A dash with the reason why there is no figure. */
const Unknown = ({ reason }: { readonly reason: string }) => (
  <span className="muted" title={reason}>
    —
  </span>
)

/** The spend, with a sparkline of its days. */
export const Spend = ({ by, id }: SpendProps) => {
  const { data, isError } = useQuery(spendQuery(by))
  if (data === undefined)
    return isError ? (
      <Unknown reason="The gateway could not read the spend. Reload the page." />
    ) : (
      <Skeleton width={110} />
    )
  const spent = groupSpendOf(data, id)
  if (spent === undefined) return <Unknown reason={`Only the ${MAX_GROUPS} that spent most have a figure.`} />
  return (
    <span className="spend" title={plural(spent.requests, "request")}>
      {spent.requests === 0 ? null : <Sparkline values={spent.costs} />}
      <Money usd={spent.cost} />
    </span>
  )
}

/** The share of the requests that failed. */
export const Failures = ({ by, id }: SpendProps) => {
  const { data } = useQuery(spendQuery(by))
  const spent = data === undefined ? undefined : groupSpendOf(data, id)
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
