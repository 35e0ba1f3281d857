/** Shared parts of the operator's handlers. */
import { Effect } from "effect"
import { OperatorCaller } from "../../../../schemas/Access.ts"
import type { StateRefused } from "../../../account/Accounts.ts"
import type { OperatorActor } from "../../../account/OperatorEvents.ts"
import type { RefundRefused } from "../../../billing/Refunds.ts"
import type { DecisionRefused } from "../../../billing/TopUpDecisions.ts"
import { conflict, type Failure, invalid } from "../../../domain/Failure.ts"
import type { Unavailable } from "../../../platform/database/Sql.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"
import { Exchange } from "../../edge/Exchange.ts"
import { claimOf } from "../../edge/Idempotency.ts"
import type { WriteCaller } from "../management/Answers.ts"

/** The operator that acts on an account, as the account's audit log names it. */
export const asOperator = (accountId: string): Effect.Effect<WriteCaller, never, OperatorCaller> =>
  Effect.map(OperatorCaller, ({ keyId }) => ({ accountId, actor: { type: "operator", id: keyId } }))

/** The operator of a change that concerns no single account, as the operators' audit log names it. */
export const asActor: Effect.Effect<OperatorActor, never, OperatorCaller> = Effect.gen(function* () {
  const { keyId } = yield* OperatorCaller
  const { requestId } = yield* Exchange
  return { id: keyId, requestId }
})

/** Turns the error of a change that the current state does not allow into a conflict with the same message. */
export const conflicts = <A, R>(
  work: Effect.Effect<A, StateRefused | RefundRefused | DecisionRefused | Failure | Unavailable, R>
): Effect.Effect<A, Failure | Unavailable, R> =>
  Effect.catchTags(work, {
    StateRefused: ({ message }) => Effect.fail(conflict(message)),
    RefundRefused: ({ message }) => Effect.fail(conflict(`${message}.`)),
    DecisionRefused: ({ message }) => Effect.fail(conflict(`${message}.`))
  })

/** The reference under which the ledger moves money once: the idempotency key, which such an operation requires. */
export const referenceOf = (request: ApiRequest, id: string): Effect.Effect<string, Failure> =>
  Effect.flatMap(Effect.fromResult(claimOf(request.headers["idempotency-key"], "POST", id, null)), (claim) =>
    claim === undefined
      ? invalid("Idempotency-Key", "is required, because a repeat would move money twice")
      : Effect.succeed(claim.idempotencyKey)
  )
