import { Cause, Context, Effect, Exit, Layer, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Failure, failure, type Reason } from "../domain/Failure.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { type Actor, Audit, CurrentEntry, type OpenEntry } from "./Audit.ts"
import { claimOf, type ClaimRow, dropClaims, insertClaim, keepAnswer } from "./MutationsSql.ts"
import { holdsSecret } from "./SecretForms.ts"

/** A requested change to an account. */
export interface Mutation<A extends object> {
  readonly accountId: string
  readonly actor: Actor
  readonly requestId: string
  /** The action in the past tense, as in the audit log: `key.revoked`. */
  readonly type: string
  /** A new resource gets its ID before it exists. */
  readonly resource: { readonly type: string; readonly id: string }
  /** The request's idempotency key within its scope, and the digest of the request. */
  readonly claim: { readonly claim: string; readonly fingerprint: string } | undefined
  /** Whether the answer may be stored for repeated requests. Answers with a secret may not. */
  readonly keepAnswer: boolean
  /** Returns the error code for a failure. The audit log records it and the client receives it. */
  readonly codeOf: (reason: Reason) => string
  /**
   * Marks work that changes nothing in the database but calls other services, which may be slow. It runs without a transaction and
   * without an idempotency key, and ends when the client disconnects.
   */
  readonly outside?: true
  /** Returns the answer for the client. Runs in a transaction and may open a nested one. */
  readonly work: Effect.Effect<A, Failure | Unavailable | SqlError.SqlError>
  /**
   * Runs after the commit, and also when the outcome of the commit is unknown. It must clear every cached copy of the changed data.
   */
  readonly afterwards?: Effect.Effect<void>
}

export interface MutationResult {
  readonly answer: object
  /** Whether this is the stored answer to an earlier identical request. */
  readonly replayed: boolean
  /** False when the change happened but its audit entry could not be completed. */
  readonly audited: boolean
}

/**
 * Applies changes to accounts. Each change has an audit entry, opened before it and completed after it, and happens once per
 * idempotency key.
 */
export class Mutations extends Context.Service<
  Mutations,
  {
    /**
     * Runs a mutation. The work does not start until its audit entry is written. The mutation continues when the client
     * disconnects.
     *
     * When the work fails, nothing has changed and `run` fails with the same error. It fails with `IdempotencyInProgress` while
     * another request with the same key runs, with `IdempotencyKeyReused` when the key belongs to a different request, and with
     * `IdempotencyResultUnavailable` when the first answer was not stored.
     *
     * When the response to the commit is lost, it fails with `Unavailable` and the entry stays pending, because the outcome is
     * unknown.
     */
    readonly run: <A extends object>(mutation: Mutation<A>) => Effect.Effect<MutationResult, Failure | Unavailable>
    /** Runs work once per idempotency key without an audit entry, and otherwise like `run`. */
    readonly once: <A extends object>(
      deed: Pick<Mutation<A>, "accountId" | "claim" | "requestId" | "work">
    ) => Effect.Effect<MutationResult, Failure | Unavailable>
    /** Deletes idempotency keys older than this, a bounded number at a time. Returns how many it deleted. */
    readonly dropClaims: (olderThanMs: number) => Effect.Effect<number, Unavailable>
  }
>()("tollgate/account/Mutations") {
  static readonly layer = Layer.effect(
    Mutations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const deps: Deps = { sql, audit }
      return Mutations.of({
        run: (mutation) => Effect.uninterruptible(run(deps, mutation)),
        once: (deed) => Effect.uninterruptible(storeErrors(inTransaction(deps, { ...deed, keepAnswer: true }))),
        dropClaims: (olderThanMs) => storeErrors(dropClaims(sql, olderThanMs))
      })
    })
  )
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
}

/** The audit outcome of an action that an earlier request with the same key had already performed. */
const REPEATED = "idempotency_replayed"

/** The audit outcome of an action cancelled because its client disconnected. */
export const CANCELLED = "request_cancelled"

const run = <A extends object>(
  deps: Deps,
  mutation: Mutation<A>
): Effect.Effect<MutationResult, Failure | Unavailable> =>
  Effect.gen(function* () {
    const { accountId, afterwards = Effect.void, claim } = mutation
    const before = claim && (yield* storeErrors(claimOf(deps.sql, accountId, claim.claim)))
    if (before !== undefined) return yield* replayAnswer(mutation, before)
    const entry = yield* deps.audit.open(mutation)
    const progress = { worked: false }
    const work = mutation.outside === true ? outside(mutation) : inTransaction(deps, mutation, progress)
    const done = yield* Effect.exit(storeErrors(Effect.provideService(work, CurrentEntry, entry)))
    yield* Effect.catchCause(afterwards, (cause) => Effect.logError("the step after a mutation failed", cause))
    if (Exit.isSuccess(done)) {
      const audited = yield* completeEntry(deps, entry, done.value.replayed ? REPEATED : undefined)
      return { ...done.value, audited }
    }
    const error = Option.getOrUndefined(Cause.findErrorOption(done.cause))
    if (progress.worked && error?._tag === "Unavailable") yield* staysPending(entry, done.cause)
    else yield* completeEntry(deps, entry, codeOf(mutation, done.cause, error))
    return yield* done
  })

const codeOf = <A extends object>(
  { codeOf: called }: Mutation<A>,
  cause: Cause.Cause<unknown>,
  error: Failure | Unavailable | undefined
): string => {
  if (error === undefined) return Cause.hasInterruptsOnly(cause) ? CANCELLED : called({ _tag: "InternalError" })
  return called(error._tag === "Failure" ? error.reason : { _tag: "StoreUnavailable" })
}

const outside = <A extends object>({ work }: Mutation<A>) =>
  Effect.map(Effect.interruptible(work), (answer) => ({ answer, replayed: false, audited: true }))

/** Runs the work and claims its key in one transaction. Sets `progress.worked` when only the commit is left. */
const inTransaction = <A extends object>(
  { sql }: Deps,
  mutation: Pick<Mutation<A>, "accountId" | "claim" | "keepAnswer" | "requestId" | "work">,
  progress = { worked: false }
) =>
  Effect.gen(function* () {
    const { accountId, claim, requestId, work } = mutation
    if (claim !== undefined && !(yield* insertClaim(sql, { accountId, requestId, ...claim }))) {
      const other = yield* claimOf(sql, accountId, claim.claim)
      if (other === undefined) return yield* failure({ _tag: "IdempotencyInProgress" })
      return yield* replayAnswer(mutation, other)
    }
    const answer = yield* work
    if (claim !== undefined && mutation.keepAnswer) {
      const text = JSON.stringify(answer)
      if (!holdsSecret(text)) yield* keepAnswer(sql, accountId, claim.claim, text)
    }
    progress.worked = true
    return { answer, replayed: false, audited: true }
  }).pipe(sql.withTransaction)

const replayAnswer = (
  { claim }: Pick<Mutation<object>, "claim">,
  { answer, fingerprint, request_id: requestId }: ClaimRow
): Effect.Effect<MutationResult, Failure> => {
  if (claim?.fingerprint !== fingerprint) return Effect.fail(failure({ _tag: "IdempotencyKeyReused" }))
  return answer === null
    ? Effect.fail(failure({ _tag: "IdempotencyResultUnavailable", requestId }))
    : Effect.succeed({ answer, replayed: true, audited: true })
}

/** Completes the entry and reports whether that succeeded. On failure it logs the entry instead. */
const completeEntry = ({ audit }: Deps, entry: OpenEntry, code: string | undefined): Effect.Effect<boolean> =>
  audit.complete(entry, code).pipe(
    Effect.as(true),
    Effect.catchCause((cause) => Effect.as(staysPending(entry, cause), false))
  )

const staysPending = ({ id, requestId, type }: OpenEntry, cause: Cause.Cause<unknown>) =>
  Effect.annotateLogs(Effect.logError(`an audit entry stays pending: ${type} ${id}`, cause), {
    request_id: requestId
  })
