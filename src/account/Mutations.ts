import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Failure, failure } from "../domain/Failure.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { type Actor, Audit, CurrentEntry, type OpenEntry } from "./Audit.ts"
import { claimOf, type ClaimRow, dropClaims, insertClaim, keepAnswer } from "./MutationsSql.ts"

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
     * which case nothing has changed; with `IdempotencyKeyReused` for another request under the same key; and with
     * `IdempotencyResultUnavailable` for a repeat whose answer was not kept. Goes on when its caller leaves.
     */
    readonly run: <A extends object>(mutation: Mutation<A>) => Effect.Effect<Mutated, Failure | Unavailable>
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
        dropClaims: (olderThanMs) => storeErrors(dropClaims(sql, olderThanMs))
      })
    })
  )
}

interface Desk {
  readonly sql: SqlClient.SqlClient
  readonly audit: Audit["Service"]
}

const run = <A extends object>(desk: Desk, mutation: Mutation<A>): Effect.Effect<Mutated, Failure | Unavailable> =>
  Effect.gen(function* () {
    const { accountId, claim } = mutation
    const before = claim && (yield* storeErrors(claimOf(desk.sql, accountId, claim.claim)))
    if (before !== undefined) return yield* repeated(mutation, before)
    const entry = yield* desk.audit.open(mutation)
    const done = claimed(desk, mutation).pipe(
      desk.sql.withTransaction,
      Effect.ensuring(mutation.afterwards ?? Effect.void),
      Effect.provideService(CurrentEntry, entry),
      storeErrors,
      Effect.tapError((error) => completed(desk, entry, error instanceof Failure ? error.reason._tag : error._tag))
    )
    const made = yield* done
    return { ...made, audited: yield* completed(desk, entry, undefined) }
  })

/** The work and the claim on its key, in one transaction. */
const claimed = <A extends object>({ sql }: Desk, mutation: Mutation<A>) =>
  Effect.gen(function* () {
    const { accountId, claim, requestId, work } = mutation
    if (claim !== undefined && !(yield* insertClaim(sql, { accountId, requestId, ...claim }))) {
      const other = yield* claimOf(sql, accountId, claim.claim)
      if (other === undefined) return yield* failure({ _tag: "IdempotencyInProgress" })
      return yield* repeated(mutation, other)
    }
    const answer = yield* work
    if (claim !== undefined && mutation.keepAnswer) {
      yield* keepAnswer(sql, accountId, claim.claim, JSON.stringify(answer))
    }
    return { answer, replayed: false, audited: true }
  })

const repeated = <A extends object>(
  { claim }: Mutation<A>,
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
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.logError(`a line of the audit log stays pending: ${entry.type} ${entry.id}`, cause).pipe(
          Effect.annotateLogs({ request_id: entry.requestId })
        ),
        false
      )
    )
  )
