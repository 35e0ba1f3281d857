import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useNames } from "../../data/Names.ts"
import { type Range, rowsOf } from "../../data/Series.ts"
import { usageQuery } from "../../data/Usage.ts"
import { brief, share } from "../../format/Figures.ts"
import { Money } from "../../parts/Figures.tsx"
import { Empty, SkeletonRows } from "../../parts/States.tsx"

const MOST = 8

interface TopGroupsProps {
  readonly range: Range
  readonly by: "model" | "key"
  readonly title: string
}

/** The dearest models or keys of a range. */
export const TopGroups = ({ by, range, title }: TopGroupsProps) => {
  const { data } = useQuery({ ...usageQuery(range, by), placeholderData: keepPreviousData })
  const nameOf = useNames(by)
  const rows = data && rowsOf(data.buckets, by).slice(0, MOST)
  const total = data?.totals.cost_usd ?? 0
  return (
    <section className="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <Link className="small" to={by === "model" ? "/models" : "/keys"}>
          All {by}s
        </Link>
      </header>
      {rows === undefined ? (
        <SkeletonRows />
      ) : rows.length === 0 ? (
        <Empty title={`No ${by} was used in this range.`} />
      ) : (
        <div className="scroll" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{by === "model" ? "Model" : "Key"}</th>
                <th scope="col" className="right">
                  Requests
                </th>
                <th scope="col" className="right">
                  Tokens
                </th>
                <th scope="col" className="right">
                  Spend
                </th>
                <th scope="col" className="right">
                  Share
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ cost, group, requests, tokens }) => (
                <tr key={group}>
                  <th scope="row" className="clip" title={nameOf(group)}>
                    {by === "model" && group !== null ? (
                      <Link to="/models/$" params={{ _splat: group }}>
                        {nameOf(group)}
                      </Link>
                    ) : (
                      nameOf(group)
                    )}
                  </th>
                  <td className="right number">{brief(requests)}</td>
                  <td className="right number">{brief(tokens)}</td>
                  <td className="right">
                    <Money usd={cost} />
                  </td>
                  <td className="right number muted">{share(total === 0 ? 0 : cost / total)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
