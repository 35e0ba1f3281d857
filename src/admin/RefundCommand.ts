/** The command that gives back what a request cost. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { Customers, OPERATOR } from "../billing/Customers.ts"
import { formatUsd, usdFromNano } from "../domain/Money.ts"
import { Operator } from "../operator/Operator.ts"
import { confirm, yesFlag } from "./Confirm.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print, CommandRefused } from "./Output.ts"

export const refund = Command.make(
  "refund",
  {
    request: Flags.requestArgument,
    amount: Flags.refundAmount,
    reason: Flags.reason,
    reference: Flags.reference,
    yes: yesFlag
  },
  Effect.fn("refund")(function* ({ amount: amountFlag, reason, reference: named, request: id, yes }) {
    const { email, row } = yield* (yield* Operator).request(id)
    if (row.id !== id)
      return yield* new CommandRefused({ message: `${id} repeated the answer of ${row.id} and cost nothing` })
    const wanted = Option.getOrUndefined(amountFlag)
    const reference = Option.getOrUndefined(named)
    const most = wanted ?? row.settled - row.refunded
    yield* confirm(`Refund ${formatUsd(most)} of ${id} to ${email}`, most, yes)
    const { amount, balance, cost, repeated, total } = yield* (yield* Customers).refund({
      accountId: row.account_id,
      requestId: id,
      amount: wanted,
      reason,
      reference,
      actor: OPERATOR
    })
    yield* print({
      json: {
        request_id: id,
        account_id: row.account_id,
        email,
        amount_usd: usdFromNano(amount),
        refunded_usd: usdFromNano(total),
        cost_usd: usdFromNano(cost),
        balance_usd: usdFromNano(balance),
        ...(reference === undefined ? {} : { reference, repeated })
      },
      text: repeated
        ? `No money moved: the reference ${reference} was already used to refund ${formatUsd(amount)} of ${id}.`
        : `Refunded ${formatUsd(amount)} of ${id} to ${email}. The request cost ${formatUsd(cost)}; the balance is ${formatUsd(balance)}.`
    })
  })
).pipe(
  Command.withDescription("Give back what a request cost, whole or in part; with --reference, only once"),
  Command.withExamples([
    { command: "npm run admin -- refund req_01K0ABCDEFGHJKMNPQRSTVWXYZ --reason outage --reference TICKET-8" },
    { command: "npm run admin -- refund req_01K0ABCDEFGHJKMNPQRSTVWXYZ --amount-usd 0.05 --reason goodwill" }
  ]),
  Command.provide(database)
)
