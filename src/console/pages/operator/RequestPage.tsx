import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useState } from "react"
import type { OperatorReceiptResult } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { operatorApi } from "../../data/Client.ts"
import { requestQuery } from "../../data/Operator.ts"
import { duration, moment, share, signedPercent } from "../../format/Figures.ts"
import { exactMoney, money, signedMoney } from "../../format/Money.ts"
import { operationName, sentence } from "../../format/Words.ts"
import { Id } from "../../parts/Copy.tsx"
import { Ago, Signed, Status } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { Failed, Skeleton } from "../../parts/States.tsx"
import { Tile } from "../../parts/Tile.tsx"
import { CostLines } from "../receipt/CostLines.tsx"
import { Timeline } from "../receipt/Timeline.tsx"
import { ReasonDialog } from "./ReasonDialog.tsx"
import { marginOf } from "./MarginTable.tsx"

type Receipt = OperatorReceiptResult["data"]

/** The price for the account beside the cost of the provider. */
const Tiles = ({ receipt }: { readonly receipt: Receipt }) => {
  const { absorbed_usd, attempt_cost_usd: failedCost, cost_usd, provider_cost_usd: cost, refunded_usd } = receipt
  const margin = marginOf(receipt)
  return (
    <section className="tiles" aria-label="Price and cost">
      <Tile
        label="Price"
        figure={money(cost_usd)}
        title={exactMoney(cost_usd)}
        change={
          receipt.paid_with === "simulated"
            ? "paid with simulated money"
            : refunded_usd > 0
              ? `after ${money(refunded_usd)} of refunds`
              : `${money(receipt.held_usd)} was held`
        }
      />
      <Tile
        label="Provider cost"
        figure={cost === null ? (failedCost > 0 ? "—" : "unknown") : money(cost)}
        {...(cost === null ? {} : { title: exactMoney(cost) })}
        change={
          failedCost > 0
            ? `and ${money(failedCost)} for failed attempts`
            : cost === null
              ? "neither reported nor listed"
              : (receipt.provider ?? "no provider")
        }
      />
      <Tile
        label="Margin"
        figure={margin === undefined ? "—" : money(margin)}
        {...(margin === undefined ? {} : { title: exactMoney(margin) })}
        change={margin === undefined || cost_usd === 0 ? undefined : `${share(margin / cost_usd)} of the price`}
      />
      <Tile
        label="Absorbed"
        figure={money(absorbed_usd)}
        title={exactMoney(absorbed_usd)}
        change={absorbed_usd > 0 ? "usage beyond the hold" : "the hold was enough"}
      />
    </section>
  )
}

/** The cost of an attempt. The provider charged it for the serving attempt, and it is reported or estimated for a failed one. */
const AttemptCost = ({ index, outcome, receipt }: { index: number; outcome: string; receipt: Receipt }) => {
  const failedCost = receipt.attempt_costs.find(({ attempt_index }) => attempt_index === index)
  if (failedCost !== undefined) {
    return (
      <span title={exactMoney(failedCost.cost_usd)}>
        {money(failedCost.cost_usd)} <span className="muted">{failedCost.basis}</span>
      </span>
    )
  }
  const cost = outcome === "served" ? receipt.provider_cost_usd : null
  return cost === null ? <span className="muted">—</span> : <span title={exactMoney(cost)}>{money(cost)}</span>
}

const Attempts = ({ receipt }: { readonly receipt: Receipt }) => {
  const { routing, timings } = receipt
  const attempts = routing?.provider_attempts ?? []
  if (attempts.length === 0) return null
  return (
    <section className="card" aria-label="Attempts">
      <header>
        <h2>Attempts</h2>
      </header>
      <div className="body scroll" tabIndex={0} role="region" aria-label="Table: attempts">
        <table className="lines">
          <thead>
            <tr>
              <th scope="col">Provider</th>
              <th scope="col">Outcome</th>
              <th scope="col">Started after</th>
              <th scope="col">Duration</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {attempts.map(({ attempt_index: index, outcome, provider }) => {
              const time = timings.attempts.find(({ attempt_index }) => attempt_index === index)
              return (
                <tr key={index}>
                  <td>{provider}</td>
                  <td>{sentence(String(outcome))}</td>
                  <td className="number">{time === undefined ? "—" : duration(time.start_ms)}</td>
                  <td className="number">{time?.duration_ms == null ? "—" : duration(time.duration_ms)}</td>
                  <td className="number">
                    <AttemptCost index={index} outcome={String(outcome)} receipt={receipt} />
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </section>
  )
}

const Transfers = ({ receipt: { transfers } }: { readonly receipt: Receipt }) => (
  <section className="card" aria-label="Movements of money">
    <header>
      <h2>Movements of money</h2>
    </header>
    {transfers.length === 0 ? (
      <div className="body muted">No money moved for this request.</div>
    ) : (
      <div className="body scroll" tabIndex={0} role="region" aria-label="Table: movements of money">
        <table className="lines">
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Kind</th>
              <th scope="col">Reference</th>
              <th scope="col">To the account</th>
            </tr>
          </thead>
          <tbody>
            {transfers.map(({ amount_usd, at, kind, reference }, index) => (
              <tr key={index}>
                <td>
                  <Ago at={at} />
                </td>
                <td>{sentence(kind)}</td>
                <td>{reference === null ? <span className="muted">—</span> : <code>{reference}</code>}</td>
                <td className="number">
                  <Signed text={signedMoney(amount_usd, exactMoney)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
  </section>
)

const ruleOf = ({ price_rule: rule }: Receipt): string => {
  if (rule === null) return "the catalogue's price"
  const markup = rule.markup === undefined ? "" : `, ${signedPercent(rule.markup)}`
  if (rule.by === "account") return `the account's markup${markup}`
  return rule.by === "plan" ? `plan ${rule.plan ?? ""}${markup}` : `fixed price of plan ${rule.plan ?? ""}`
}

const Summary = ({ receipt }: { readonly receipt: Receipt }) => (
  <section className="card" aria-label="Request">
    <header>
      <h2>Request</h2>
      <Status of={receipt.status} />
    </header>
    <div className="body grid">
      {receipt.error === null ? null : (
        <div className="banner bad">
          <span>
            <code>{receipt.error.code}</code> {receipt.error.message}
          </span>
        </div>
      )}
      <dl className="facts">
        <dt>Account</dt>
        <dd>
          <Link to="/operator/accounts/$id" params={{ id: receipt.account_id }}>
            {receipt.email}
          </Link>
        </dd>
        <dt>Request</dt>
        <dd>
          <Id value={receipt.id} />
        </dd>
        <dt>Time</dt>
        <dd>
          {moment(receipt.created_at)} (<Ago at={receipt.created_at} />)
        </dd>
        <dt>Operation</dt>
        <dd>
          {operationName(receipt.operation)}
          {receipt.streamed ? ", streamed" : ""}
        </dd>
        <dt>Model</dt>
        <dd>{receipt.resolved_model ?? receipt.model}</dd>
        <dt>Priced by</dt>
        <dd>{ruleOf(receipt)}</dd>
        <dt>Key</dt>
        <dd>
          <Id value={receipt.key_id} />
        </dd>
        {receipt.trace_id === null ? null : (
          <>
            <dt>Trace</dt>
            <dd>
              <Id value={receipt.trace_id} />
            </dd>
          </>
        )}
        {receipt.replayed_from === undefined ? null : (
          <>
            <dt>Replay of</dt>
            <dd>
              <Link to="/operator/requests/$id" params={{ id: receipt.replayed_from }}>
                {receipt.replayed_from}
              </Link>
            </dd>
          </>
        )}
      </dl>
    </div>
  </section>
)

const Refund = ({ onClose, receipt }: { readonly receipt: Receipt; readonly onClose: () => void }) => (
  <ReasonDialog
    title="Refund this request"
    action="Refund request"
    referenced
    amount={{
      label: "Amount in USD",
      hint: `Leave it empty to refund all that is left: ${exactMoney(receipt.cost_usd)}.`,
      most: receipt.cost_usd
    }}
    onClose={onClose}
    run={async ({ amount, reason, reference }) => {
      const { data } = await operatorApi.call("operator.requests.refund", {
        path: { request_id: receipt.id },
        body: { reason, ...(amount === undefined ? {} : { amount_usd: amount }) },
        idempotencyKey: reference
      })
      return data.repeated
        ? `No money moved: ${money(data.amount_usd)} was refunded before under this reference.`
        : `Refunded ${money(data.amount_usd)}. The balance is ${money(data.balance_usd)}.`
    }}
  >
    The balance of {receipt.email} and the budgets of the request get the money back at once.
  </ReasonDialog>
)

/** Why the request cannot be refunded; undefined if it can. */
const obstacleOf = ({ cost_usd, refunded_usd, replayed_from, status }: Receipt): string | undefined => {
  if (replayed_from !== undefined) return "This request repeated an earlier answer and cost nothing."
  if (status === "open") return "The request is still running."
  if (cost_usd > 0) return undefined
  return refunded_usd > 0 ? "Nothing is left to refund." : "The request cost nothing."
}

/** The operator's page of a request, with a refund. */
export const RequestPage = () => {
  const { id } = useParams({ from: "/operator/operator/requests/$id" })
  const request = useQuery(requestQuery(id))
  const [refunding, setRefunding] = useState(false)
  const { data: receipt } = request
  const obstacle = receipt === undefined ? undefined : obstacleOf(receipt)
  return (
    <Page
      title="Request"
      before={
        <Link className="button square" to="/operator/requests" aria-label="Back to the requests">
          <Icon name="back" />
        </Link>
      }
      tools={
        request.isError ? null : (
          <>
            {obstacle === undefined ? null : (
              <span id="why-no-refund" className="muted small obstacle">
                {obstacle}
              </span>
            )}
            <button
              type="button"
              className="button"
              disabled={receipt === undefined || obstacle !== undefined}
              aria-describedby={obstacle === undefined ? undefined : "why-no-refund"}
              onClick={() => setRefunding(true)}
            >
              Refund
            </button>
          </>
        )
      }
    >
      {request.isError ? (
        <Failed
          error={request.error}
          onRetry={() => void request.refetch()}
          instead={
            <Link className="button" to="/operator/requests">
              All requests
            </Link>
          }
        />
      ) : null}
      {request.isPending ? <Skeleton height={320} /> : null}
      {receipt === undefined ? null : (
        <>
          <Tiles receipt={receipt} />
          <div className="grid side">
            <div className="grid">
              <Timeline receipt={receipt} />
              <CostLines receipt={receipt} />
              <Attempts receipt={receipt} />
              <Transfers receipt={receipt} />
            </div>
            <div className="grid">
              <Summary receipt={receipt} />
            </div>
          </div>
          {refunding ? <Refund receipt={receipt} onClose={() => setRefunding(false)} /> : null}
        </>
      )}
    </Page>
  )
}
