/** Lines of the audit log for work that owners do by their sessions. */
import { Cause, Effect, Exit, Option } from "effect"
import { Audit } from "../../account/Audit.ts"
import { CANCELLED } from "../../account/Mutations.ts"
import { type Failure, type Reason, storeFailure } from "../../domain/Failure.ts"
import { Exchange } from "../edge/Exchange.ts"
import { rowOf } from "../FailureRows.ts"
import { asCaller } from "./management/Answers.ts"

/** The error code of the line; undefined for a success. A client that disconnects cancels the work. */
const codeOf = (exit: Exit.Exit<unknown, Failure>): string | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  if (Cause.hasInterruptsOnly(exit.cause)) return CANCELLED
  const reason: Reason = Option.match(Cause.findErrorOption(exit.cause), {
    onNone: () => ({ _tag: "InternalError" }),
    onSome: ({ reason }) => reason
  })
  return rowOf(reason).code
}

/**
 * Carries out the work with a line in the audit log when an owner asks for it. The line is written first, and completed with the outcome.
 * Work that a key asks for has no line, because it is as frequent as requests. `type` is the action in the past tense.
 */
export const makeOwnerLine = Effect.map(
  Audit,
  (audit) =>
    <A, R>(
      type: string,
      resource: { readonly type: string; readonly id: string },
      work: Effect.Effect<A, Failure, R>
    ) =>
      Effect.gen(function* () {
        const { accountId, actor } = yield* asCaller
        if (actor.type !== "owner") return yield* work
        const { requestId } = yield* Exchange
        const entry = yield* Effect.mapError(audit.open({ accountId, type, actor, resource, requestId }), storeFailure)
        return yield* Effect.onExit(work, (exit) =>
          Effect.catch(audit.complete(entry, codeOf(exit)), (error) =>
            Effect.logError("a line of the audit log stays pending", error)
          )
        )
      })
)
