import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useState } from "react"
import type { OperatorAccountResult } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import {
  accountAuditQuery,
  accountQuery,
  accountRequestsQuery,
  accountTopUpsQuery,
  reportQuery
} from "../../data/Operator.ts"
import { count, moment, share, signedPercent } from "../../format/Figures.ts"
import { exactMoney, money } from "../../format/Money.ts"
import { plural, sentence } from "../../format/Words.ts"
import { Id } from "../../parts/Copy.tsx"
import { Ago, Status } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { Meter } from "../../parts/Meter.tsx"
import { Failed, Skeleton } from "../../parts/States.tsx"
import { Tile } from "../../parts/Tile.tsx"
import { type AccountAction, AccountDialog } from "./AccountDialogs.tsx"
import { AuditTable } from "../../parts/AuditTable.tsx"
import { KeysCard } from "./KeysCard.tsx"
import { PagedList } from "../../parts/PagedList.tsx"
import { MarginTable } from "./MarginTable.tsx"
import { TopUpTable } from "./TopUpTable.tsx"

export type Account = OperatorAccountResult["data"]

const FEW_REQUESTS = 10

/** The balance of the account, and its spend and margin of 30 days. */
const Tiles = ({ account }: { readonly account: Account }) => {
  const { data: report, isError } = useQuery(reportQuery({ by: ["account"], account: account.id }))
  const margin = report?.totals
  const percent = margin?.margin_basis_points
  return (
    <section className="tiles" aria-label="Figures of the account">
      <Tile
        label="Balance"
        figure={money(account.balance_usd)}
        title={exactMoney(account.balance_usd)}
        change={
          account.open_requests === 0 && account.held_usd === 0
            ? "none of it is held"
            : `${money(account.held_usd)} of it held for ${plural(account.open_requests, "running request")}`
        }
      />
      <Tile
        label="Spent in 30 days"
        figure={money(account.spent_30d_usd)}
        title={exactMoney(account.spent_30d_usd)}
        change={
          margin === undefined
            ? undefined
            : plural(margin.requests, "request paid with real money", "requests paid with real money")
        }
      />
      <Tile
        label="Margin in 30 days"
        figure={margin === undefined ? (isError ? "—" : undefined) : money(margin.margin_usd)}
        {...(margin === undefined ? {} : { title: exactMoney(margin.margin_usd) })}
        change={
          margin === undefined
            ? undefined
            : `${percent == null ? "no revenue" : share(percent / 10_000)} after ${money(margin.provider_cost_usd + margin.attempt_cost_usd)} of provider cost`
        }
      />
      <Tile
        label="Simulated money"
        figure={money(account.play_balance_usd)}
        title={exactMoney(account.play_balance_usd)}
        change="Pays for simulated providers only"
      />
    </section>
  )
}

interface FactsProps {
  readonly account: Account
  readonly onAct: (action: AccountAction) => void
}

const pricesOf = ({ markup_basis_points: points, plan }: Account): string => {
  if (points !== 0) return `its own markup of ${signedPercent(points)}`
  return plan === null ? "the catalogue's prices" : "the plan's prices"
}

/** The facts of the account, with buttons that change its plan, its markup and its rate limits. */
const Facts = ({ account, onAct }: FactsProps) => {
  const isOver = account.state === "closed"
  const change = (action: AccountAction, what: string) =>
    isOver ? null : (
      <button type="button" className="button plain tiny" onClick={() => onAct(action)}>
        Change<span className="unseen"> the {what}</span>
      </button>
    )
  return (
    <section className="card" aria-label="Account">
      <header>
        <h2>Account</h2>
        <Status of={account.state} />
      </header>
      <div className="body grid">
        {account.state_reason === null ? null : (
          <div className="banner warn">
            <span>
              {sentence(account.state)}: {account.state_reason}
            </span>
          </div>
        )}
        <dl className="facts terms">
          <dt>Account</dt>
          <dd>
            <Id value={account.id} />
          </dd>
          <dt>Opened</dt>
          <dd>
            {moment(account.created_at)} (<Ago at={account.created_at} />)
          </dd>
          <dt>Keys</dt>
          <dd>
            {count(account.keys.active)} active, {count(account.keys.inactive)} revoked or expired
          </dd>
          <dt>Plan</dt>
          <dd className="term">
            {account.plan?.name ?? <span className="muted">no plan</span>} {change("plan", "plan")}
          </dd>
          <dt>Prices</dt>
          <dd className="term">
            <span>{pricesOf(account)}</span> {change("markup", "markup")}
          </dd>
          <dt>Rate limits</dt>
          <dd className="term">
            {account.limit_scale === 1 ? "default" : `${count(account.limit_scale)} times the default`}{" "}
            {change("limits", "rate limits")}
          </dd>
        </dl>
      </div>
    </section>
  )
}

const Budgets = ({ account }: { readonly account: Account }) =>
  account.budgets.length === 0 ? null : (
    <section className="card" aria-label="Budgets">
      <header>
        <h2>Budgets</h2>
      </header>
      <div className="body grid">
        {account.budgets.map(({ limit_usd, name, owner_id, period, scope, spent_usd }) => (
          <div key={owner_id} className="grid tight">
            <span className="small">
              {sentence(scope)} <strong>{name}</strong>
            </span>
            <Meter spentCents={spent_usd * 100} budgetCents={limit_usd * 100} period={period} />
          </div>
        ))}
      </div>
    </section>
  )

/** The newest requests, top-ups, keys and events of the account. */
const Lists = ({ id }: { readonly id: string }) => {
  const requests = useInfiniteQuery(accountRequestsQuery(id, {}, FEW_REQUESTS))
  const topUps = useInfiniteQuery(accountTopUpsQuery(id))
  const audit = useInfiniteQuery(accountAuditQuery(id))
  return (
    <>
      <section className="card" aria-label="Requests">
        <header>
          <h2>Requests</h2>
          <Link className="small" to="/operator/requests" search={{ account: id } as never}>
            All requests
          </Link>
        </header>
        <PagedList
          of={{ ...requests, hasNextPage: false } as typeof requests}
          name="requests"
          empty={{ title: "This account has sent no request yet." }}
        >
          {(rows) => <MarginTable rows={rows} />}
        </PagedList>
      </section>
      <section className="card" aria-label="Top-ups">
        <header>
          <h2>Top-ups</h2>
        </header>
        <PagedList
          of={topUps}
          name="top-ups"
          rows={3}
          empty={{
            title: "This account has no payment through the checkout yet.",
            about: "The audit log below has the credits and adjustments by operators."
          }}
        >
          {(rows) => <TopUpTable rows={rows} of="account" />}
        </PagedList>
      </section>
      <KeysCard accountId={id} />
      <section className="card" aria-label="Audit log">
        <header>
          <h2>Audit log</h2>
        </header>
        <PagedList of={audit} name="events" empty={{ title: "The account has no event yet." }}>
          {(rows) => <AuditTable lines={rows} />}
        </PagedList>
      </section>
    </>
  )
}

const actions = {
  active: [
    { action: "suspend", name: "Suspend" },
    { action: "close", name: "Close" }
  ],
  suspended: [
    { action: "resume", name: "Resume" },
    { action: "close", name: "Close" }
  ],
  closed: []
} as const satisfies Readonly<Record<Account["state"], ReadonlyArray<{ action: AccountAction; name: string }>>>

/** The operator's page of an account. */
export const AccountPage = () => {
  const { id } = useParams({ from: "/operator/operator/accounts/$id" })
  const account = useQuery(accountQuery(id))
  const [open, setOpen] = useState<AccountAction>()
  const { data } = account
  return (
    <Page
      title={data?.email ?? "Account"}
      before={
        <Link className="button square" to="/operator/accounts" aria-label="Back to the accounts">
          <Icon name="back" />
        </Link>
      }
      tools={
        data === undefined
          ? null
          : actions[data.state].map(({ action, name }) => (
              <button
                key={action}
                type="button"
                className={action === "resume" ? "button primary" : "button danger"}
                onClick={() => setOpen(action)}
              >
                {name}
              </button>
            ))
      }
    >
      {account.isError ? (
        <Failed
          error={account.error}
          onRetry={() => void account.refetch()}
          instead={
            <Link className="button" to="/operator/accounts">
              All accounts
            </Link>
          }
        />
      ) : null}
      {account.isPending ? <Skeleton height={320} /> : null}
      {data === undefined ? null : (
        <>
          <Tiles account={data} />
          <div className="grid side facts-first">
            <div className="grid">
              <Lists id={id} />
            </div>
            <div className="grid">
              <Facts account={data} onAct={setOpen} />
              <Budgets account={data} />
            </div>
          </div>
        </>
      )}
      {open === undefined || data === undefined ? null : (
        <AccountDialog action={open} account={data} onClose={() => setOpen(undefined)} />
      )}
    </Page>
  )
}
