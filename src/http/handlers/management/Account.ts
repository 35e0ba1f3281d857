import { Effect } from "effect"
import { Caller } from "../../../../schemas/Access.ts"
import type { BalanceReport, Transaction as ShownTransaction } from "../../../../schemas/management/Account.ts"
import { Phones } from "../../../billing/Phones.ts"
import { type Transaction, Transactions } from "../../../billing/Transactions.ts"
import { type Balance, LOW_BALANCE } from "../../../domain/Balance.ts"
import { usdFromNano } from "../../../domain/Money.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import { Ledger } from "../../../ledger/Ledger.ts"
import { answer, pageOf } from "./Answers.ts"
import { operations } from "../../edge/Operations.ts"

/** What an account has. */
export const fundsOf = (balance: Balance | undefined) => {
  const { held, play, posted } = balance ?? { held: 0n, posted: 0n, play: undefined }
  return {
    balance_usd: usdFromNano(posted),
    held_usd: usdFromNano(held),
    available_usd: usdFromNano(posted - held),
    currency: "USD" as const,
    simulated_usd: usdFromNano(play?.posted ?? 0n),
    low_balance: posted < LOW_BALANCE
  }
}

const typeOf = ({ house, kind, reference, top_up_id: topUpId }: Transaction): ShownTransaction["type"] => {
  if (kind === "adjust") return "adjustment"
  if (kind === "refund") return "refund"
  if (topUpId !== null) return "top_up"
  return house === "house:grants" || reference?.startsWith("starter credit ") === true ? "starter_credit" : "credit"
}

/** What stands before an operator's reference in the ledger, so that it equals no reference of the service's own. */
const BY_OPERATOR = "operator:"

/** A transaction as the API shows it. */
const transactionOf = (row: Transaction): ShownTransaction => ({
  id: row.id,
  object: "transaction",
  type: typeOf(row),
  amount_usd: usdFromNano(row.amount),
  paid_with: row.house === "house:play" ? "simulated" : "real",
  created_at: secondsOf(row.at),
  request_id: row.request_id,
  top_up_id: row.top_up_id,
  reference: row.reference?.startsWith(BY_OPERATOR) === true ? row.reference.slice(BY_OPERATOR.length) : null
})

/** `/management/balance` and `/management/transactions`. */
export const managementAccountHandlers = Effect.gen(function* () {
  const ledger = yield* Ledger
  const phones = yield* Phones
  const transactions = yield* Transactions
  return operations("managementAccount", {
    getBalance: () =>
      answer(
        Effect.flatMap(Caller, ({ accountId }) =>
          Effect.all([ledger.balance(accountId), phones.of(accountId)], { concurrency: 2 })
        ),
        ([balance, { credited }]): BalanceReport => ({
          data: { ...fundsOf(balance), starter_credit_usd: usdFromNano(credited) }
        })
      ),
    listTransactions: ({ query }) =>
      answer(
        Effect.flatMap(Caller, ({ accountId }) => transactions.page(accountId, pageOf(query))),
        ({ next, rows }) => ({ object: "list", data: rows.map(transactionOf), next_cursor: next })
      )
  })
})
