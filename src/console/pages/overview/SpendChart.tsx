import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useRef } from "react"
import type { UsageSeriesReport } from "../../../client/Contract.ts"
import { bucketsOf } from "../../charts/Buckets.ts"
import { PictureButton } from "../../charts/PictureButton.tsx"
import { useNames } from "../../data/Names.ts"
import type { Grouping, ShownFigure } from "../../data/UsageSeries.ts"
import { sentence } from "../../format/Words.ts"
import { Segments } from "../../parts/Fields.tsx"
import { Empty, Skeleton } from "../../parts/States.tsx"
import { figureNames } from "../explorer/Figures.ts"
import { SeriesChart } from "../explorer/SeriesChart.tsx"

const metrics = [
  { value: "cost_usd", name: "Spend" },
  { value: "requests", name: "Requests" },
  { value: "tokens", name: "Tokens" }
] as const satisfies ReadonlyArray<{ value: ShownFigure; name: string }>

const groups = ["model", "key", "project", "provider"] as const satisfies ReadonlyArray<Grouping>
const groupOptions = groups.map((value) => ({ value, name: sentence(value) }))

interface SpendChartProps {
  readonly report: UsageSeriesReport | undefined
  readonly by: (typeof groups)[number]
  readonly failed: boolean
}

/** Usage over time, stacked by model, key, project or provider. */
export const SpendChart = ({ by, failed, report }: SpendChartProps) => {
  const { figure = "cost_usd", ...search } = useSearch({ from: "/shell/overview" })
  const navigate = useNavigate({ from: "/overview" })
  const nameOf = useNames(by)
  const chart = useRef<HTMLElement>(null)
  const choose = (change: object) =>
    void navigate({
      search: (before) => ({ ...before, ...change }) as never,
      replace: true,
      resetScroll: false
    })
  const { from, range, to } = search
  return (
    <section className="card" aria-label="Usage over time" ref={chart}>
      <header>
        <Segments label="Figure" value={figure} options={metrics} onChange={(value) => choose({ figure: value })} />
        <Segments label="Stacked by" value={by} options={groupOptions} onChange={(value) => choose({ by: value })} />
        <span className="actions">
          <PictureButton
            of={chart}
            title={`${figureNames[figure]} by ${by}`}
            disabled={report === undefined || report.data.length === 0}
          />
          <Link className="small" to="/explorer" search={{ by, from, range, to } as never}>
            Explore
          </Link>
        </span>
      </header>
      <div className="body">
        {report === undefined ? (
          failed ? (
            <Empty title="The gateway could not read the usage. The console tries again in a minute." />
          ) : (
            <Skeleton height={304} />
          )
        ) : report.data.length === 0 ? (
          <Empty title="There is no usage in this range.">
            <p>Send a request, or choose a longer range.</p>
          </Empty>
        ) : (
          <SeriesChart
            report={report}
            figure={figure}
            isCumulative={false}
            buckets={bucketsOf(report.buckets, report.interval)}
            nameOf={nameOf}
            onChoose={(group) => void navigate({ to: "/requests", search: { [by]: group, from, range, to } as never })}
          />
        )}
      </div>
    </section>
  )
}
