import { Link } from "@tanstack/react-router"
import type { UsageSeriesReport } from "../../../client/Contract.ts"
import { useNames } from "../../data/Names.ts"
import { totalOf } from "../../data/UsageSeries.ts"
import { brief, share } from "../../format/Figures.ts"
import { Money } from "../../parts/Figures.tsx"
import { Empty, SkeletonRows } from "../../parts/States.tsx"
import { Table } from "../../parts/Table.tsx"

interface TopGroupsProps {
  readonly report: UsageSeriesReport | undefined
  readonly failed: boolean
  readonly by: "model" | "key"
  readonly title: string
}

/** The models or keys with the highest spend in a range. */
export const TopGroups = ({ by, failed, report, title }: TopGroupsProps) => {
  const nameOf = useNames(by)
  const rows = report?.data.filter(({ is_rest: isRest }) => !isRest)
  const total = report?.totals.cost_usd ?? 0
  return (
    <section className="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <Link className="small" to={by === "model" ? "/models" : "/keys"}>
          All {by}s
        </Link>
      </header>
      {rows === undefined ? (
        failed ? (
          <Empty title="The gateway could not read the usage. The console tries again in a minute." />
        ) : (
          <SkeletonRows />
        )
      ) : rows.length === 0 ? (
        <Empty title={`No request used a ${by} in this range.`}>
          <p>Send a request, or choose a longer range.</p>
        </Empty>
      ) : (
        <Table
          label={title}
          columns={[
            by === "model" ? "Model" : "Key",
            { right: "Requests" },
            { right: "Tokens" },
            { right: "Spend" },
            { right: "Share" }
          ]}
        >
          {rows.map(({ group, totals }) => (
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
              <td className="right number">{brief(totals.requests)}</td>
              <td className="right number">{brief(totalOf(totals, "tokens"))}</td>
              <td className="right">
                <Money usd={totals.cost_usd} />
              </td>
              <td className="right number muted">{share(total === 0 ? 0 : totals.cost_usd / total)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}
