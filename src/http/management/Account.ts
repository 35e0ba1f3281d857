import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Caller } from "../../../schemas/Access.ts"
import { Api } from "../../../schemas/Api.ts"
import type { BalanceReport } from "../../../schemas/management/Account.ts"
import { Phones } from "../../billing/Phones.ts"
import type { Balance } from "../../domain/Balance.ts"
import { usdFromNano } from "../../domain/Money.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import { LOW_BALANCE } from "../../inference/Answer.ts"
import { answer } from "./Answers.ts"

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

/** `/management/balance`. */
export const layer = HttpApiBuilder.group(
  Api,
  "managementAccount",
  Effect.fnUntraced(function* (handlers) {
    const ledger = yield* Ledger
    const phones = yield* Phones
    return handlers.handle("getBalance", () =>
      answer(
        Effect.flatMap(Caller, ({ accountId }) =>
          Effect.all([ledger.balance(accountId), phones.of(accountId)], { concurrency: 2 })
        ),
        ([balance, { credited }]): BalanceReport => ({
          data: { ...fundsOf(balance), starter_credit_usd: usdFromNano(credited) }
        })
      )
    )
  })
)
