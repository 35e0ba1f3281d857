import { Cause, Context, Effect, Exit, Layer, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Failure, failure, type Reason } from "../domain/Failure.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { type Actor, Audit, CurrentEntry, type OpenEntry } from "./Audit.ts"
import { claimOf, type ClaimRow, dropClaims, insertClaim, keepAnswer } from "./MutationsSql.ts"
import { holdsSecret } from "./SecretForms.ts"

/** A change to an account that somebody asked for. */
export interface Mutation<A extends object> {
  readonly accountId: string
  readonly actor: Actor
  readonly requestId: string
  /** The deed in the past tense, as in the audit log: `key.revoked`. */
  readonly type: string
  /** What is made has its id before it is made. */
  readonly resource: { readonly type: string; readonly id: string }
  /** The idempotency key it came with, in its scope, and the digest of the request. */
  readonly claim: { readonly claim: string; readonly fingerprint: string } | undefined
  /** Whether its answer may be kept for repeats; one with a secret may not. */
  readonly keepAnswer: boolean
  /** What the audit log calls what it failed with: the code that its caller is told. */
  readonly codeOf: (reason: Reason) => string
  /**
   * Its work changes nothing in the database but asks others, who may take their time: it runs in no transaction, under no key, and
   * ends when its caller leaves.
   */
  readonly outside?: true
  /** Answers what the caller is told. Runs in a transaction, and may run one of its own inside. */
  readonly work: Effect.Effect<A, Failure | Unavailable | SqlError.SqlError>
  /** Done once it is committed, and also where nobody knows whether it is: what is remembered of it must be forgotten. */
  readonly afterwards?: Effect.Effect<void>
}

/** What came of a mutation. */
export interface Mutated {
  readonly answer: object
  /** It was answered with what the same request was answered before. */
  readonly replayed: boolean
  /** False where it happened and its line of the audit log could not be completed. */
  readonly audited: boolean
}

/** Changes to accounts: each with a line of the audit log, opened before it and completed after it, and once per idempotency key. */
export class Mutations extends Context.Service<
  Mutations,
  {
    /**
     * Carries out a mutation. Nothing is done unless its line of the audit log is written. Fails with what its work fails with, in
     * which case nothing has changed; with `IdempotencyInProgress` while another is under way under the same key, with
     * `IdempotencyKeyReused` where that was another request, and with `IdempotencyResultUnavailable` for a repeat whose answer was not
     * kept. Goes on when its caller leaves. Where the answer to the commit is lost it fails with `Unavailable`, and the line stays
     * pending: nobody knows what it is to say.
     */
    readonly run: <A extends object>(mutation: Mutation<A>) => Effect.Effect<Mutated, Failure | Unavailable>
    /** Does once per idempotency key what the audit log does not tell of, and else as `run` does. */
    readonly once: <A extends object>(
      deed: Pick<Mutation<A>, "accountId" | "claim" | "requestId" | "work">
    ) => Effect.Effect<Mutated, Failure | Unavailable>
    /** Frees idempotency keys that are older than this, a bounded number at a time; answers how many. */
    readonly dropClaims: (olderThanMs: number) => Effect.Effect<number, Unavailable>
  }
>()("tollgate/account/Mutations") {
  static readonly layer = Layer.effect(
    Mutations,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const desk: Desk = { sql, audit }
      return Mutations.of({
        run: (mutation) => Effect.uninterruptible(run(desk, mutation)),
        once: (deed) => Effect.uninterruptible(storeErrors(inTransaction(desk, { ...deed, keepAnswer: true }))),
        dropClaims: (olderThanMs) => storeErrors(dropClaims(sql, olderThanMs))
      })
    })
  )
}

interface Desk {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
}

/** What a line of the audit log says of a deed that another request had done by then, under the same key. */
const REPEATED = "idempotency_replayed"

/** And of one that was given up because its caller left. */
const LEFT = "request_cancelled"

const run = <A extends object>(desk: Desk, mutation: Mutation<A>): Effect.Effect<Mutated, Failure | Unavailable> =>
  Effect.gen(function* () {
    const { accountId, afterwards = Effect.void, claim } = mutation
    const before = claim && (yield* storeErrors(claimOf(desk.sql, accountId, claim.claim)))
    if (before !== undefined) return yield* repeated(mutation, before)
    const entry = yield* desk.audit.open(mutation)
    const progress = { worked: false }
    const work = mutation.outside === true ? outside(mutation) : inTransaction(desk, mutation, progress)
    const done = yield* Effect.exit(storeErrors(Effect.provideService(work, CurrentEntry, entry)))
    yield* Effect.catchCause(afterwards, (cause) => Effect.logError("what follows a mutation failed", cause))
    if (Exit.isSuccess(done)) {
      const audited = yield* completed(desk, entry, done.value.replayed ? REPEATED : undefined)
      return { ...done.value, audited }
    }
    const error = Option.getOrUndefined(Cause.findErrorOption(done.cause))
    if (progress.worked && error?._tag === "Unavailable") yield* staysPending(entry, done.cause)
    else yield* completed(desk, entry, codeOf(mutation, done.cause, error))
    return yield* done
  })

const codeOf = <A extends object>(
  { codeOf: called }: Mutation<A>,
  cause: Cause.Cause<unknown>,
  error: Failure | Unavailable | undefined
): string => {
  if (error === undefined) return Cause.hasInterruptsOnly(cause) ? LEFT : called({ _tag: "InternalError" })
  return called(error._tag === "Failure" ? error.reason : { _tag: "StoreUnavailable" })
}

const outside = <A extends object>({ work }: Mutation<A>) =>
  Effect.map(Effect.interruptible(work), (answer) => ({ answer, replayed: false, audited: true }))

/** The work and the claim on its key, in one transaction; when only the commit is left, that is noted. */
const inTransaction = <A extends object>(
  { sql }: Desk,
  mutation: Pick<Mutation<A>, "accountId" | "claim" | "keepAnswer" | "requestId" | "work">,
  progress = { worked: false }
) =>
  Effect.gen(function* () {
    const { accountId, claim, requestId, work } = mutation
    if (claim !== undefined && !(yield* insertClaim(sql, { accountId, requestId, ...claim }))) {
      const other = yield* claimOf(sql, accountId, claim.claim)
      if (other === undefined) return yield* failure({ _tag: "IdempotencyInProgress" })
      return yield* repeated(mutation, other)
    }
    const answer = yield* work
    if (claim !== undefined && mutation.keepAnswer) {
      const text = JSON.stringify(answer)
      if (!holdsSecret(text)) yield* keepAnswer(sql, accountId, claim.claim, text)
    }
    progress.worked = true
    return { answer, replayed: false, audited: true }
  }).pipe(sql.withTransaction)

const repeated = (
  { claim }: Pick<Mutation<object>, "claim">,
  { answer, fingerprint, request_id: requestId }: ClaimRow
): Effect.Effect<Mutated, Failure> => {
  if (claim?.fingerprint !== fingerprint) return Effect.fail(failure({ _tag: "IdempotencyKeyReused" }))
  return answer === null
    ? Effect.fail(failure({ _tag: "IdempotencyResultUnavailable", requestId }))
    : Effect.succeed({ answer, replayed: true, audited: true })
}

/** Whether the line could be completed. What could not be written stands in the log instead. */
const completed = ({ audit }: Desk, entry: OpenEntry, code: string | undefined): Effect.Effect<boolean> =>
  audit.complete(entry, code).pipe(
    Effect.as(true),
    Effect.catchCause((cause) => Effect.as(staysPending(entry, cause), false))
  )

const staysPending = ({ id, requestId, type }: OpenEntry, cause: Cause.Cause<unknown>) =>
  Effect.annotateLogs(Effect.logError(`a line of the audit log stays pending: ${type} ${id}`, cause), {
    request_id: requestId
  })
