/** The commands about top-ups that need an operator. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { Customers, OPERATOR } from "../billing/Customers.ts"
import type { DecisionRequest } from "../billing/TopUpDecisions.ts"
import { nanoOfTopUp } from "../billing/TopUps.ts"
import { formatUsd, NANO_PER_CENT, usdFromNano } from "../domain/Money.ts"
import { Operator } from "../operator/Operator.ts"
import type { TopUpLine } from "../operator/OperatorSql.ts"
import { newResourceId } from "../platform/Ids.ts"
import { confirm, yesFlag } from "./Confirm.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print } from "./Output.ts"
import { tableOf } from "./Table.ts"

const lineOf = ({
  amount_cents,
  created_at,
  credited_cents,
  paid_at,
  refunded_cents,
  taken_back,
  ...line
}: TopUpLine) => ({
  ...line,
  amount_usd: usdFromNano(nanoOfTopUp(amount_cents)),
  credited_usd: credited_cents === null ? null : usdFromNano(nanoOfTopUp(credited_cents)),
  refunded_usd: usdFromNano(refunded_cents * NANO_PER_CENT),
  taken_back_usd: usdFromNano(taken_back),
  created_at: created_at.toISOString(),
  paid_at: paid_at?.toISOString() ?? null
})

export const listTopUps = Command.make(
  "list",
  { limit: Flags.topUps },
  Effect.fn("topups list")(function* ({ limit }) {
    const { rows } = yield* (yield* Operator).topUps({ after: null, limit })
    yield* print({
      json: { data: rows.map(lineOf) },
      text: tableOf<TopUpLine>(
        [
          { heading: "ID", cell: ({ id }) => id },
          { heading: "EMAIL", cell: ({ email }) => email },
          { heading: "AMOUNT", cell: ({ amount_cents }) => formatUsd(nanoOfTopUp(amount_cents)), right: true },
          { heading: "STATUS", cell: ({ status }) => status },
          { heading: "CREATED", cell: ({ created_at }) => created_at.toISOString() },
          { heading: "WHY", cell: ({ attention }) => attention ?? "" }
        ],
        rows,
        "No top-up needs an operator."
      )
    })
  })
).pipe(
  Command.withDescription("List top-ups that need an operator, newest first"),
  Command.withExamples([{ command: "npm run admin -- topups list" }]),
  Command.provide(database)
)

const decide = Effect.fnUntraced(function* (
  decision: Omit<DecisionRequest, "actor" | "reference">,
  reference: string | undefined
) {
  const { topUpId: id } = decision
  const done = yield* (yield* Customers).decideTopUp({
    ...decision,
    reference: reference ?? newResourceId(),
    actor: OPERATOR
  })
  const { email } = yield* (yield* Operator).account(done.accountId)
  const { accountId, amount, balance, repeated, status } = done
  const moved =
    amount === 0n
      ? "No money moved."
      : `${amount > 0n ? `Credited ${formatUsd(amount)} to` : `Took ${formatUsd(-amount)} back from`} ${email}.`
  yield* print({
    json: {
      id,
      account_id: accountId,
      email,
      action: decision.action,
      amount_usd: usdFromNano(amount),
      status,
      balance_usd: usdFromNano(balance),
      ...(reference === undefined ? {} : { reference, repeated })
    },
    text: repeated
      ? `Nothing happened: the reference ${reference} was already used for this decision about top-up ${id}.`
      : `${moved} Top-up ${id} is ${status} and needs no operator; the balance of ${email} is ${formatUsd(balance)}.`
  })
})

export const settleTopUp = Command.make(
  "settle",
  {
    id: Flags.topUpArgument,
    amount: Flags.settledAmount,
    reason: Flags.reason,
    reference: Flags.reference,
    yes: yesFlag
  },
  Effect.fn("topups settle")(function* ({ amount: amountFlag, id, reason, reference: named, yes }) {
    const [amount, reference] = [Option.getOrUndefined(amountFlag), Option.getOrUndefined(named)]
    const { amount_cents, email } = yield* (yield* Operator).topUp(id)
    const most = amount ?? nanoOfTopUp(amount_cents)
    yield* confirm(`Settle top-up ${id} of ${email} with ${formatUsd(most)}`, most, yes)
    yield* decide({ topUpId: id, action: "settled", amount, reason }, reference)
  })
).pipe(
  Command.withDescription(
    "Credit a top-up that needs an operator, or take one back that is paid; with --reference, only once"
  ),
  Command.withExamples([
    { command: 'npm run admin -- topups settle 0123456789abcdef01234567 --reason "paid, checked at Stripe"' },
    {
      command:
        "npm run admin -- topups settle 0123456789abcdef01234567 --amount-usd 24.99 --reason short --reference TICKET-9"
    }
  ]),
  Command.provide(database)
)

export const dismissTopUp = Command.make(
  "dismiss",
  { id: Flags.topUpArgument, reason: Flags.reason, reference: Flags.reference },
  Effect.fn("topups dismiss")(function* ({ id, reason, reference }) {
    yield* decide({ topUpId: id, action: "dismissed", reason }, Option.getOrUndefined(reference))
  })
).pipe(
  Command.withDescription("Dismiss a top-up that needs an operator; no money moves"),
  Command.withExamples([
    { command: 'npm run admin -- topups dismiss 0123456789abcdef01234567 --reason "dispute won"' }
  ]),
  Command.provide(database)
)
