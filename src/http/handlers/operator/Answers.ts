/** Shared parts of the operator's handlers. */
import { Effect } from "effect"
import { OperatorCaller } from "../../../../schemas/Access.ts"
import type { StateRefused } from "../../../account/Accounts.ts"
import type { OperatorActor } from "../../../account/OperatorEvents.ts"
import type { RefundRefused } from "../../../billing/Refunds.ts"
import { type Failure, failure } from "../../../domain/Failure.ts"
import type { Unavailable } from "../../../platform/database/Sql.ts"
import { Exchange } from "../../edge/Exchange.ts"
import type { Asker } from "../management/Answers.ts"

/** The operator that acts on an account, as the account's audit log names it. */
export const asOperator = (accountId: string): Effect.Effect<Asker, never, OperatorCaller> =>
  Effect.map(OperatorCaller, ({ keyId }) => ({ accountId, actor: { type: "operator", id: keyId } }))

/** The operator that changes what concerns no single account, as the operators' audit log names it. */
export const asActor: Effect.Effect<OperatorActor, never, OperatorCaller> = Effect.gen(function* () {
  const { keyId } = yield* OperatorCaller
  const { requestId } = yield* Exchange
  return { id: keyId, requestId }
})

/** Turns a change that the state of things does not allow into a conflict with the same words. */
export const conflicts = <A, R>(
  work: Effect.Effect<A, StateRefused | RefundRefused | Failure | Unavailable, R>
): Effect.Effect<A, Failure | Unavailable, R> =>
  Effect.catchTags(work, {
    StateRefused: ({ message }) => Effect.fail(failure({ _tag: "Conflict", detail: `${message}.` })),
    RefundRefused: ({ message }) => Effect.fail(failure({ _tag: "Conflict", detail: `${message}.` }))
  })

/** Unix seconds, or null. */
export const secondsOf = (time: Date | null): number | null =>
  time === null ? null : Math.floor(time.getTime() / 1_000)
