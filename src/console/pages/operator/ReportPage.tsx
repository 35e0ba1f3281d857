import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useRef } from "react"
import type { ReportRow } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { bucketsOf } from "../../charts/Buckets.ts"
import { PictureButton } from "../../charts/PictureButton.tsx"
import { TimeSeries } from "../../charts/TimeSeries.tsx"
import { downloadCsv } from "../../data/Csv.ts"
import { type ReportBy, reportQuery } from "../../data/Operator.ts"
import { dayBefore, dayOf, isCustom } from "../../data/Ranges.ts"
import {
  csvOfReport,
  daysOf,
  rowGroupOf,
  type ReportFigure,
  reportFigures,
  seriesOf,
  splitOf
} from "../../data/Report.ts"
import { count, share } from "../../format/Figures.ts"
import { axisMoney, exactMoney, money } from "../../format/Money.ts"
import { plural } from "../../format/Words.ts"
import { Segments, Select } from "../../parts/Fields.tsx"
import { Money } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { TimeRange } from "../../parts/Range.tsx"
import { Empty, Failed, Skeleton, SkeletonRows } from "../../parts/States.tsx"
import { Table } from "../../parts/Table.tsx"
import { Tile } from "../../parts/Tile.tsx"

const lengths = { "7d": 7, "30d": 30, "90d": 90 } as const
const lengthOptions = [
  { value: "7d", name: "7 d" },
  { value: "30d", name: "30 d" },
  { value: "90d", name: "90 d" }
] as const

const groups = [
  { value: "day", name: "By day" },
  { value: "model", name: "By model" },
  { value: "provider", name: "By provider" },
  { value: "account", name: "By account" }
] as const satisfies ReadonlyArray<{ value: ReportBy; name: string }>

const figureNames: Readonly<Record<ReportFigure, string>> = {
  revenue_usd: "Revenue",
  provider_cost_usd: "Provider cost",
  margin_usd: "Margin",
  absorbed_usd: "Absorbed"
}
const figureOptions = reportFigures.map((value) => ({ value, name: figureNames[value] }))

/** The state of the page in the URL, and its reports. */
const useReport = () => {
  const search = useSearch({ from: "/operator/operator/report" })
  const navigate = useNavigate({ from: "/operator/report" })
  const { account, by = "day", days = "30d", figure = "revenue_usd" } = search
  const today = dayOf(Date.now() / 1_000)
  const [from, to] = isCustom(search) ? [search.from!, search.to!] : [dayBefore(today, lengths[days] - 1), today]
  const range = { from, to, account }
  const grouped = useQuery(reportQuery({ by: [by], ...range }))
  const daily = useQuery({ ...reportQuery({ by: ["day", by], ...range }), enabled: by !== "day" })
  const change = (next: Readonly<Record<string, string | undefined>>) =>
    void navigate({
      search: (before) =>
        Object.fromEntries(Object.entries({ ...before, ...next }).filter(([, value]) => value !== undefined)) as never,
      replace: true,
      resetScroll: false
    })
  return { by, change, daily: by === "day" ? grouped : daily, days, figure, from, grouped, search, to }
}

type Report = ReturnType<typeof useReport>

const Tiles = ({ of: { grouped } }: { readonly of: Report }) => {
  const totals = grouped.data?.totals
  const shown = (usd: number | undefined) => (usd === undefined ? (grouped.isError ? "—" : undefined) : money(usd))
  const exact = (usd: number | undefined) => (usd === undefined ? {} : { title: exactMoney(usd) })
  const percent = totals?.margin_basis_points
  return (
    <section className="tiles" aria-label="Figures of the range">
      <Tile
        label="Revenue"
        figure={shown(totals?.revenue_usd)}
        {...exact(totals?.revenue_usd)}
        change={totals === undefined ? undefined : plural(totals.requests, "request")}
      />
      <Tile
        label="Provider cost"
        figure={shown(totals?.provider_cost_usd)}
        {...exact(totals?.provider_cost_usd)}
        change={
          totals === undefined
            ? undefined
            : totals.uncosted_requests === 0
              ? totals.attempt_cost_usd === 0
                ? "known for every request"
                : `and ${money(totals.attempt_cost_usd)} for failed attempts`
              : `unknown for ${plural(totals.uncosted_requests, "request")}`
        }
      />
      <Tile
        label="Margin"
        figure={shown(totals?.margin_usd)}
        {...exact(totals?.margin_usd)}
        change={
          totals === undefined
            ? undefined
            : percent == null
              ? "no revenue"
              : `${share(percent / 10_000)} of the revenue`
        }
      />
      <Tile
        label="Absorbed"
        figure={shown(totals?.absorbed_usd)}
        {...exact(totals?.absorbed_usd)}
        change="Usage above the holds, which no account paid"
      />
    </section>
  )
}

const Chart = ({ of: { by, change, daily, figure, from, to } }: { readonly of: Report }) => {
  const chart = useRef<HTMLElement>(null)
  const days = daysOf(from, to)
  const rows = daily.data?.rows
  const series = rows === undefined ? [] : by === "day" ? splitOf(rows, days) : seriesOf(rows, days, by, figure)
  const title = by === "day" ? "Provider cost and margin" : `${figureNames[figure]} by ${by}`
  return (
    <section className="card" aria-label="Report over time" ref={chart}>
      <header>
        {by === "day" ? (
          <h2>{title}</h2>
        ) : (
          <Segments
            label="Figure"
            value={figure}
            options={figureOptions}
            onChange={(value) => change({ figure: value })}
          />
        )}
        <PictureButton of={chart} title={title} disabled={rows === undefined || rows.length === 0} />
      </header>
      <div className="body">
        {rows === undefined ? (
          daily.isError ? (
            <Empty title="The gateway could not read the report. The console tries again in a minute." />
          ) : (
            <Skeleton height={284} />
          )
        ) : rows.length === 0 ? (
          <Empty title="No request was paid with real money in this range.">
            <p>The report leaves out requests paid with simulated money. Requests appear here when they end.</p>
          </Empty>
        ) : (
          <TimeSeries
            label={`${title} over time. The table has the figures.`}
            buckets={bucketsOf(
              days.map((day) => Date.parse(day) / 1_000),
              "day"
            )}
            format={money}
            axis={axisMoney}
            series={series.map(({ isRest, name, total, values }, at) => ({
              name,
              values,
              total,
              colour: isRest ? "other" : String((at % 8) + 1),
              onChoose: undefined
            }))}
          />
        )}
      </div>
    </section>
  )
}

type Sums = Omit<ReportRow, "day" | "account_id" | "email" | "model" | "provider">

interface FiguresProps {
  readonly of: Sums
  /** The totals of all rows. The table leaves out a column whose total is zero. */
  readonly totals: Sums
}

const Figures = ({ of, totals }: FiguresProps) => (
  <>
    <td className="right number">{count(of.requests)}</td>
    <td className="right">
      <Money usd={of.revenue_usd} />
    </td>
    <td className="right">
      <Money usd={of.provider_cost_usd} />
    </td>
    {totals.attempt_cost_usd === 0 ? null : (
      <td className="right">
        {of.attempt_cost_usd === 0 ? <span className="muted">—</span> : <Money usd={of.attempt_cost_usd} />}
      </td>
    )}
    <td className={of.margin_usd < 0 ? "right bad-text" : "right"}>
      <Money usd={of.margin_usd} />
    </td>
    <td className={of.margin_usd < 0 ? "right number bad-text" : "right number muted"}>
      {of.margin_basis_points === null ? "—" : share(of.margin_basis_points / 10_000)}
    </td>
    {totals.uncosted_requests === 0 ? null : (
      <td className="right number">
        {of.uncosted_requests === 0 ? <span className="muted">—</span> : count(of.uncosted_requests)}
      </td>
    )}
    {totals.absorbed_usd === 0 ? null : (
      <td className="right">
        {of.absorbed_usd === 0 ? <span className="muted">—</span> : <Money usd={of.absorbed_usd} />}
      </td>
    )}
  </>
)

const Name = ({ by, row }: { readonly row: ReportRow; readonly by: ReportBy }) => {
  const name = rowGroupOf(row, by)
  return by === "account" && row.account_id !== null ? (
    <Link className="clip broad" to="/operator/accounts/$id" params={{ id: row.account_id }} title={name}>
      {name}
    </Link>
  ) : (
    <span className="clip broad" title={name}>
      {name}
    </span>
  )
}

const Rows = ({ of: { by, grouped } }: { readonly of: Report }) => {
  const { data } = grouped
  // The chart says why the report is empty.
  if (data === undefined ? grouped.isError : data.rows.length === 0) return null
  const rows =
    by === "day" ? data?.rows.toReversed() : data?.rows.toSorted((one, other) => other.revenue_usd - one.revenue_usd)
  return (
    <section className="card" aria-label="Figures">
      {rows === undefined || data === undefined ? (
        <SkeletonRows rows={8} />
      ) : (
        <Table
          label="figures of the groups"
          columns={[
            groups
              .find(({ value }) => value === by)!
              .name.slice(3)
              .replace(/^./, (letter) => letter.toUpperCase()),
            { right: "Requests" },
            { right: "Revenue" },
            { right: "Provider cost" },
            ...(data.totals.attempt_cost_usd === 0 ? [] : [{ right: "Failed attempts" }]),
            { right: "Margin" },
            { right: "Margin, %" },
            ...(data.totals.uncosted_requests === 0 ? [] : [{ right: "Cost unknown" }]),
            ...(data.totals.absorbed_usd === 0 ? [] : [{ right: "Absorbed" }])
          ]}
        >
          {rows.map((row) => (
            <tr key={rowGroupOf(row, by)}>
              <th scope="row">
                <Name row={row} by={by} />
              </th>
              <Figures of={row} totals={data.totals} />
            </tr>
          ))}
          {rows.length < 2 ? null : (
            <tr className="sum">
              <th scope="row">Sum</th>
              <Figures of={data.totals} totals={data.totals} />
            </tr>
          )}
        </Table>
      )}
    </section>
  )
}

/** The operator's report: revenue, cost and margin by day, model, provider or account. */
export const ReportPage = () => {
  const report = useReport()
  const { by, change, daily, days, from, grouped, search, to } = report
  const error = grouped.error ?? daily.error
  const rows = daily.data?.rows ?? []
  return (
    <Page
      title="Report"
      tools={
        <TimeRange
          lengths={lengthOptions}
          length={days}
          search={search}
          custom={30}
          onLength={(length) => change({ days: length === "30d" ? undefined : length, from: undefined, to: undefined })}
          onDays={(range) => change({ days: undefined, ...range })}
        />
      }
    >
      {error === null ? null : (
        <Failed
          error={error}
          onRetry={() => {
            void grouped.refetch()
            void daily.refetch()
          }}
        />
      )}
      <div className="refresh" aria-busy={grouped.isPlaceholderData}>
        <Tiles of={report} />
      </div>
      <section className="toolbar" aria-label="What the report shows">
        <Select
          label="Group by"
          value={by}
          options={groups}
          onChange={(value) => change({ by: value === "day" ? undefined : value })}
        />
        <span className="spacer" />
        <button
          type="button"
          className="button"
          disabled={rows.length === 0}
          onClick={() =>
            downloadCsv(`report ${from} to ${to} by ${by}`, csvOfReport(rows, by === "day" ? ["day"] : ["day", by]))
          }
        >
          <Icon name="download" />
          Download CSV
        </button>
      </section>
      <div className="grid refresh" aria-busy={grouped.isPlaceholderData || daily.isPlaceholderData}>
        <Chart of={report} />
        <Rows of={report} />
      </div>
      <p className="muted small">
        Days are UTC days. The report leaves out simulated money. It is complete up to this moment, and the page reads
        it again every minute.
      </p>
    </Page>
  )
}
