import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { TopUp } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { api, wordsOf } from "../../data/Client.ts"
import { balanceQuery, sessionQuery, topUpsQuery } from "../../data/Queries.ts"
import { monthAt, monthsBefore } from "../../data/Statement.ts"
import { money } from "../../format/Money.ts"
import { Id } from "../../parts/Copy.tsx"
import { Field } from "../../parts/Fields.tsx"
import { Ago, Money, Status } from "../../parts/Figures.tsx"
import { Empty, Failed, Skeleton, SkeletonRows } from "../../parts/States.tsx"
import { toast } from "../../parts/Toasts.tsx"
import { BudgetsCard } from "./BudgetsCard.tsx"
import { DetailsCard } from "./DetailsCard.tsx"
import { LedgerCard } from "./Ledger.tsx"
import { PhoneForm } from "./PhoneForm.tsx"

const amounts = [10, 25, 100, 500]

/** Whether the gateway itself serves the checkout, which is so in a sandbox. */
const isSimulated = (topUp: TopUp): boolean => topUp.checkout_url?.includes("/payments/simulated/") === true

const Balance = () => {
  const { data, error, refetch } = useQuery(balanceQuery)
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />
  return (
    <section className="tiles" aria-label="Balance">
      {(
        [
          ["Available", data?.available_usd, "What new requests can hold"],
          ["Held", data?.held_usd, "Reserved for running requests. It returns when they finish."],
          ["Balance", data?.balance_usd, "Available and held together"],
          ["Simulated", data?.simulated_usd, "The part that pays for simulated providers only"]
        ] as const
      ).map(([label, usd, words]) => (
        <div className="tile" key={label}>
          <span className="label">{label}</span>
          <span className="figure">
            {usd === undefined ? <Skeleton height={28} width={96} /> : <Money usd={usd} />}
          </span>
          <span className="change">{words}</span>
        </div>
      ))}
    </section>
  )
}

const TopUpForm = () => {
  const client = useQueryClient()
  const [usd, setUsd] = useState("25")
  const amount = Number(usd)
  const pay = useMutation({
    mutationFn: async () => {
      const { data } = await api.call("console.top_ups.create", { body: { amount_usd: amount } })
      if (!isSimulated(data)) return data
      return (await api.call("console.top_ups.simulate", { path: { top_up_id: data.id } })).data
    },
    onSuccess: async (topUp) => {
      if (topUp.status === "open" && topUp.checkout_url !== null) return location.assign(topUp.checkout_url)
      toast(`Added ${money(topUp.amount_usd)} of simulated money.`)
      await Promise.all([
        client.invalidateQueries(balanceQuery),
        client.invalidateQueries(topUpsQuery),
        client.invalidateQueries({ queryKey: ["usage", "ledger"] })
      ])
    }
  })
  return (
    <section className="card" aria-label="Top up">
      <header>
        <h2>Top up</h2>
      </header>
      <form
        className="body form"
        onSubmit={(event) => {
          event.preventDefault()
          pay.mutate()
        }}
      >
        <div className="amounts" role="group" aria-label="Amount">
          {amounts.map((one) => (
            <button
              key={one}
              type="button"
              className="button"
              aria-pressed={amount === one}
              onClick={() => setUsd(String(one))}
            >
              ${one}
            </button>
          ))}
        </div>
        <Field
          label="Amount in dollars"
          hint="From $5.00 to $10,000.00. A sandbox adds simulated money at once."
          wrong={pay.error === null ? undefined : wordsOf(pay.error).message}
        >
          {(props) => (
            <input
              {...props}
              className="input"
              type="number"
              min={5}
              max={10_000}
              step={0.01}
              required
              value={usd}
              onChange={(event) => setUsd(event.target.value)}
            />
          )}
        </Field>
        <button type="submit" className="button primary" disabled={pay.isPending}>
          {pay.isPending ? "Opening the checkout…" : `Add ${Number.isFinite(amount) ? money(amount) : ""}`}
        </button>
      </form>
    </section>
  )
}

const StarterCredit = () => {
  const { data: session } = useQuery(sessionQuery)
  if (session === undefined || session === null) return null
  return (
    <section className="card" aria-label="Starter credit">
      <header>
        <h2>Starter credit</h2>
      </header>
      <div className="body">
        {session.phone_verified ? (
          <p className="muted">
            {money(session.starter_credit_usd)} was credited for the number that ends in {session.phone_last2}.
          </p>
        ) : (
          <PhoneForm />
        )}
      </div>
    </section>
  )
}

const TopUps = () => {
  const topUps = useQuery(topUpsQuery)
  return (
    <section className="card" aria-label="Top-ups">
      <header>
        <h2>Top-ups</h2>
      </header>
      {topUps.isError ? <Failed error={topUps.error} onRetry={() => void topUps.refetch()} /> : null}
      {topUps.isPending ? <SkeletonRows /> : null}
      {topUps.data?.length === 0 ? (
        <Empty title="There is no top-up yet.">
          <p>A top-up adds money to the balance.</p>
        </Empty>
      ) : null}
      {topUps.data === undefined || topUps.data.length === 0 ? null : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Table: top-ups">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Status</th>
                <th scope="col" className="right">
                  Amount
                </th>
                <th scope="col">Id</th>
                <th scope="col">
                  <span className="unseen">Checkout</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {topUps.data.map((topUp) => (
                <tr key={topUp.id}>
                  <td>
                    <Ago at={topUp.paid_at ?? topUp.created_at} />
                  </td>
                  <td>
                    <Status of={topUp.status} />
                  </td>
                  <td className="right">
                    <Money usd={topUp.amount_usd} />
                  </td>
                  <td>
                    <Id value={topUp.id} />
                  </td>
                  <td>
                    {topUp.status === "open" && topUp.checkout_url !== null ? (
                      <a href={topUp.checkout_url}>Pay</a>
                    ) : null}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

/** The page with the balance, the ledger, top-ups, billing details and budgets. */
export const BillingPage = () => (
  <Page title="Billing">
    <Balance />
    <div className="grid side aside-first">
      <div className="grid">
        <LedgerCard
          month={monthAt(Date.now() / 1_000)}
          months={[0, 1, 2].map((count) => monthsBefore(monthAt(Date.now() / 1_000), count))}
        />
        <TopUps />
      </div>
      <div className="grid">
        <TopUpForm />
        <StarterCredit />
        <DetailsCard />
        <BudgetsCard />
      </div>
    </div>
  </Page>
)
