import { Effect } from "effect"
import { Caller } from "../../../schemas/Access.ts"
import { failure, type Failure, storeFailure } from "../../domain/Failure.ts"
import type { Ledger } from "../../ledger/Ledger.ts"

/**
 * Fails with `InsufficientCredits` when the caller's account has no money. For operations that are free but use storage or work for
 * something that is paid later.
 */
export const requireFunds = (ledger: Pick<Ledger["Service"], "balance">): Effect.Effect<void, Failure, Caller> =>
  Effect.gen(function* () {
    const { accountId } = yield* Caller
    const balance = yield* Effect.mapError(ledger.balance(accountId), (error) => storeFailure(error))
    const { held, posted } = balance ?? { held: 0n, posted: 0n }
    if (posted > 0n) return
    const available = posted - held
    return yield* Effect.fail(
      failure({ _tag: "InsufficientCredits", limitSource: "balance", needed: 1n, available, posted })
    )
  })
