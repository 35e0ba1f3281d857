import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { Page } from "../../app/Page.tsx"
import { balanceQuery, keysQuery, newestQuery } from "../../data/Queries.ts"
import { intervalsOf, isCustom, type RangeSearch, timesBefore, timesOf } from "../../data/Ranges.ts"
import { type Grouping, seriesQuery } from "../../data/UsageSeries.ts"
import { money } from "../../format/Money.ts"
import { plural } from "../../format/Words.ts"
import { Money } from "../../parts/Figures.tsx"
import { RangePicker } from "../../parts/Range.tsx"
import { Failed } from "../../parts/States.tsx"
import { FirstRun } from "./FirstRun.tsx"
import { SpendChart } from "./SpendChart.tsx"
import { Tiles } from "./Tiles.tsx"
import { TopGroups } from "./TopGroups.tsx"

const USUAL = "7d"

const LowBalance = () => {
  const { data } = useQuery(balanceQuery)
  if (data?.low_balance !== true) return null
  return (
    <div className="banner warn" role="status">
      <span>
        <strong>{money(data.available_usd)} left.</strong> The gateway answers 402 to a request that may cost more.
      </span>
      <Link className="button" to="/billing">
        Top up
      </Link>
    </div>
  )
}

const MAX_RUNNING = 100

/** The available and the held balance, and the number of running requests. */
const BalanceLine = () => {
  const { data, isError } = useQuery(balanceQuery)
  const unknown = isError ? "—" : "…"
  const running = useQuery(newestQuery({ status: "open" }, MAX_RUNNING, true))
  const open = running.data?.length
  return (
    <section className="card" aria-label="Balance">
      <div className="body split balance-line">
        <span>
          <span className="figure">{data === undefined ? unknown : <Money usd={data.available_usd} />}</span>{" "}
          <span className="muted">available</span>
        </span>
        <span title="Held: reserved for running requests. It returns when they finish.">
          {data === undefined ? unknown : <Money usd={data.held_usd} />} <span className="muted">held for</span>{" "}
          <Link to="/requests" search={{ status: "open" }}>
            {open === undefined
              ? "running requests"
              : open === MAX_RUNNING
                ? `${MAX_RUNNING} or more running requests`
                : plural(open, "running request")}
          </Link>
        </span>
        {data !== undefined && data.simulated_usd > 0 ? (
          <span className="muted">
            <Money usd={data.simulated_usd} /> of it is simulated and pays for simulated providers only
          </span>
        ) : null}
      </div>
    </section>
  )
}

/** The reads of the page. Reads of the same series share one call. */
const useOverview = () => {
  const search = useSearch({ from: "/shell/overview" })
  const { by = "model" } = search
  const times = () => timesOf(search, USUAL, Date.now() / 1_000)
  const rangeKey = isCustom(search) ? `${search.from} ${search.to}` : (search.range ?? USUAL)
  const of = (by: Grouping) => ({ times, rangeKey, by })
  const main = useQuery(seriesQuery(of(by)))
  const models = useQuery(seriesQuery(of("model")))
  const keys = useQuery(seriesQuery(of("key")))
  const before = useQuery(
    seriesQuery({
      times: () => timesBefore(times()),
      rangeKey: `before ${rangeKey}`,
      // In hours if the range allows it, so that a part of a day is compared with the same part of an earlier day.
      interval: (before) => (intervalsOf(before).includes("hour") ? "hour" : "day")
    })
  )
  return { search, by, main, models, keys, before }
}

/** The page with the balance, the usage of a range, and the first steps of a new owner. */
export const OverviewPage = () => {
  const { before, by, keys, main, models, search } = useOverview()
  const navigate = useNavigate({ from: "/overview" })
  const ownKeys = useQuery(keysQuery)
  const newest = useQuery(newestQuery({}, 1, false))
  // The card stays after the first request, so that the owner sees it arrive.
  const [began, setBegan] = useState(false)
  if (newest.data?.length === 0 && !began) setBegan(true)
  const choose = (range: RangeSearch) =>
    void navigate({
      search: (before) => ({ ...before, ...range }) as never,
      replace: true,
      resetScroll: false
    })
  return (
    <Page title="Overview" tools={<RangePicker search={search} usual={USUAL} onChange={choose} />}>
      {main.isError ? <Failed error={main.error} onRetry={() => void main.refetch()} /> : null}
      {began && ownKeys.data !== undefined ? <FirstRun keys={ownKeys.data} /> : <LowBalance />}
      <BalanceLine />
      <div className="grid refresh" aria-busy={[main, before, models, keys].some((read) => read.isPlaceholderData)}>
        <Tiles report={main.data} before={before.data} failed={main.isError} />
        <SpendChart report={main.data} by={by} failed={main.isError} />
        <div className="grid halves">
          <TopGroups report={models.data} failed={models.isError} by="model" title="Top models" />
          <TopGroups report={keys.data} failed={keys.isError} by="key" title="Top keys" />
        </div>
      </div>
    </Page>
  )
}
