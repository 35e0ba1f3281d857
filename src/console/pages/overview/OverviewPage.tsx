import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { Page } from "../../app/Page.tsx"
import { balanceQuery, keysQuery, newestQuery } from "../../data/Queries.ts"
import { type Range, ranges } from "../../data/Series.ts"
import { usageQuery } from "../../data/Usage.ts"
import { money } from "../../format/Money.ts"
import { plural } from "../../format/Words.ts"
import { Segments } from "../../parts/Fields.tsx"
import { Money } from "../../parts/Figures.tsx"
import { Failed } from "../../parts/States.tsx"
import { FirstRun } from "./FirstRun.tsx"
import { SpendChart } from "./SpendChart.tsx"
import { Tiles } from "./Tiles.tsx"
import { TopGroups } from "./TopGroups.tsx"

const LOW_USD = 5

const names: Readonly<Record<Range, string>> = { "24h": "24 hours", "7d": "7 days", "30d": "30 days" }

const LowBalance = () => {
  const { data } = useQuery(balanceQuery)
  if (data === undefined || data.available_usd >= LOW_USD) return null
  return (
    <div className="banner warn" role="status">
      <span>
        <strong>{money(data.available_usd)} left.</strong> Requests stop with 402 when what they may cost is more than
        that.
      </span>
      <Link className="button" to="/billing">
        Top up
      </Link>
    </div>
  )
}

/** What the owner has, what is reserved, and what runs. */
const BalanceLine = () => {
  const { data } = useQuery(balanceQuery)
  const running = useQuery(newestQuery({ status: "open" }, 100, true))
  const open = running.data?.length ?? 0
  return (
    <section className="card" aria-label="Balance">
      <div className="body split">
        <span>
          <span className="figure">{data === undefined ? "…" : <Money usd={data.available_usd} />}</span>{" "}
          <span className="muted">available</span>
        </span>
        <span title="Held: reserved for running requests. It returns when they finish.">
          {data === undefined ? "…" : <Money usd={data.held_usd} />} <span className="muted">held for</span>{" "}
          <Link to="/requests" search={{ status: "open" }}>
            {open === 100 ? "100 or more running requests" : plural(open, "running request")}
          </Link>
        </span>
        {data !== undefined && data.simulated_usd > 0 ? (
          <span className="muted">
            <Money usd={data.simulated_usd} /> of it is simulated: it pays for simulated answers only
          </span>
        ) : null}
      </div>
    </section>
  )
}

export const OverviewPage = () => {
  const search = useSearch({ from: "/shell/overview" })
  const navigate = useNavigate({ from: "/overview" })
  const range = search.range ?? "7d"
  const usage = useQuery({ ...usageQuery(range, search.by ?? "model"), placeholderData: keepPreviousData })
  const keys = useQuery(keysQuery)
  const newest = useQuery(newestQuery({}, 1, false))
  // The card stays after the first request, so that its owner sees it arrive.
  const [began, setBegan] = useState(false)
  const isNew = newest.data?.length === 0
  if (isNew && !began) setBegan(true)
  const choose = (range: Range) => void navigate({ search: (before) => ({ ...before, range }), replace: true })
  return (
    <Page
      title="Overview"
      tools={
        <Segments
          label="Range"
          value={range}
          options={ranges.map((value) => ({ value, name: names[value] }))}
          onChange={choose}
        />
      }
    >
      {usage.isError ? <Failed error={usage.error} onRetry={() => void usage.refetch()} /> : null}
      {began && keys.data !== undefined ? <FirstRun keys={keys.data} /> : <LowBalance />}
      <BalanceLine />
      <Tiles range={range} by={search.by ?? "model"} />
      <SpendChart range={range} />
      <div className="grid two">
        <TopGroups range={range} by="model" title="Top models" />
        <TopGroups range={range} by="key" title="Top keys" />
      </div>
    </Page>
  )
}
