import type { UsageSeriesReport } from "../../../client/Contract.ts"
import type { Figure } from "../../data/UsageSeries.ts"
import { brief, count, duration, share } from "../../format/Figures.ts"
import { Money } from "../../parts/Figures.tsx"
import { Table } from "../../parts/Table.tsx"
import { groupNameOf, type NameOf } from "./Figures.ts"

type Totals = UsageSeriesReport["totals"]

const Latency = ({ ms }: { readonly ms: number | null }) => <>{ms === null ? "—" : duration(ms)}</>

const Figures = ({ of, whole }: { readonly of: Totals; readonly whole: number }) => (
  <>
    <td className="right">
      <Money usd={of.cost_usd} />
    </td>
    <td className="right number" title={count(of.requests)}>
      {brief(of.requests)}
    </td>
    <td className="right number" title={count(of.prompt_tokens)}>
      {brief(of.prompt_tokens)}
    </td>
    <td className="right number" title={count(of.completion_tokens)}>
      {brief(of.completion_tokens)}
    </td>
    <td className="right number">
      <span>
        {count(of.failed_requests)}
        {of.failed_requests === 0 ? null : <span className="muted"> · {share(of.failed_requests / of.requests)}</span>}
      </span>
    </td>
    <td className="right number">
      <Latency ms={of.latency_ms} />
    </td>
    <td className="right number muted">{share(whole)}</td>
  </>
)

interface SeriesTableProps {
  readonly report: UsageSeriesReport
  readonly figure: Figure
  readonly title: string
  readonly nameOf: NameOf
  readonly onChoose: ((group: string) => void) | undefined
}

/** A table with every figure of each group, and its share of the chosen figure. */
export const SeriesTable = ({ figure, nameOf, onChoose, report, title }: SeriesTableProps) => {
  const basis = figure === "latency_ms" ? "requests" : figure
  const whole = report.totals[basis] ?? 0
  const shareOf = (totals: Totals) => (whole === 0 ? 0 : (totals[basis] ?? 0) / whole)
  return (
    <section className="card" aria-label="Figures">
      <Table
        label="figures of the groups"
        columns={[
          title,
          { right: "Spend" },
          { right: "Requests" },
          { right: "Tokens in" },
          { right: "Tokens out" },
          { right: "Failed" },
          { right: "Average latency" },
          { right: "Share" }
        ]}
      >
        {report.data.map((one, at) => {
          const name = groupNameOf(one, report, nameOf)
          const { group } = one
          return (
            <tr key={one.is_rest ? " rest" : (group ?? " none")}>
              <th scope="row" title={name}>
                <span className="named">
                  <span className={`swatch series-${one.is_rest ? "other" : (at % 8) + 1}`} />
                  {onChoose === undefined || group === null ? (
                    <span className="clip">{name}</span>
                  ) : (
                    <button type="button" className="link clip" onClick={() => onChoose(group)}>
                      {name}
                    </button>
                  )}
                </span>
              </th>
              <Figures of={one.totals} whole={shareOf(one.totals)} />
            </tr>
          )
        })}
        {report.data.length < 2 ? null : (
          <tr className="sum">
            <th scope="row">Sum</th>
            <Figures of={report.totals} whole={1} />
          </tr>
        )}
      </Table>
    </section>
  )
}
