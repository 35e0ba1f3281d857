import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { StatementTimeout } from "../platform/database/StatementTimeout.ts"
import {
  type Checkpoint,
  checkpointIsAsWritten,
  type ClosedPoint,
  currentPoint,
  haveEnded,
  historyIsAsProved,
  readCheckpoint,
  rowsAfter,
  writeCheckpoint,
  writeLast
} from "./CheckpointSql.ts"
import { functionNamed } from "./FunctionsSql.ts"
import type { BookRule, Verification, VerifyOptions } from "./Verify.ts"
import { ALLOWED_MS, allowTime, withScans } from "./VerifySql.ts"

/** How long a verification waits for transactions that were running when it began. Without a closed point it writes no checkpoint. */
const CLOSING_MS = 10_000
const CLOSING_POLL = "50 millis"

/** The outcome of a verification, and the checkpoints before and after it. */
export interface Proof extends Verification {
  /** The checkpoint from which it read; undefined when it read everything. */
  readonly since: Checkpoint | undefined
  /** The last transfer that the new checkpoint covers; undefined when none was written. */
  readonly through: bigint | undefined
}

export interface ProveOptions {
  /** Reads everything despite the checkpoint, and compares the two. */
  readonly whole: boolean
  /** Deletes the checkpoint first, for books that someone corrected before it. */
  readonly forget?: boolean
  readonly closingMs?: number
}

const requestsFrom = () => `${functionNamed("ledger_late_before")}(now())`

const closedPoint = (sql: SqlClient.SqlClient, closingMs: number) =>
  Effect.gen(function* () {
    const { writer, ...point } = yield* currentPoint(sql, requestsFrom)
    const until = performance.now() + closingMs
    while (!(yield* haveEnded(sql, writer))) {
      if (performance.now() > until) return undefined
      yield* Effect.sleep(CLOSING_POLL)
    }
    return point
  })

const rulesOf = (sql: SqlClient.SqlClient, known: Checkpoint | undefined, whole: boolean): ReadonlyArray<BookRule> => {
  if (known === undefined) return []
  const written: BookRule = ["checkpoint_is_as_written", "sums", () => checkpointIsAsWritten(sql)]
  if (!whole) return [written]
  return [written, ["history_is_as_proved", "transfers", () => historyIsAsProved(sql, known)]]
}

const written = (sql: SqlClient.SqlClient, from: Checkpoint | undefined, point: ClosedPoint) =>
  Effect.gen(function* () {
    yield* allowTime(sql)
    const writing = writeCheckpoint(sql, from, point)
    return (yield* from === undefined ? withScans(sql, writing) : writing) ? point.through : undefined
  }).pipe(sql.withTransaction, Effect.provideService(StatementTimeout, ALLOWED_MS + 10_000))

interface AttemptInput {
  readonly sql: SqlClient.SqlClient
  readonly verifying: (options: VerifyOptions) => Effect.Effect<Verification, Unavailable>
  readonly options: ProveOptions
}

/** Undefined when another verification moved the checkpoint between the two statements that read it. */
const attempt = ({ options: { closingMs = CLOSING_MS, forget = false, whole }, sql, verifying }: AttemptInput) =>
  Effect.gen(function* () {
    const began = performance.now()
    const known = forget ? undefined : yield* storeErrors(readCheckpoint(sql))
    const point = yield* storeErrors(closedPoint(sql, closingMs))
    const since = whole ? undefined : known
    const also = rulesOf(sql, known, since === undefined)
    const scope = since === undefined ? undefined : rowsAfter(sql, since)
    const { checks, ok } = yield* verifying({ also, scope })
    if (!ok && known !== undefined) {
      const now = yield* storeErrors(readCheckpoint(sql))
      if (now?.through !== known.through || now.wholeAt.getTime() !== known.wholeAt.getTime()) return undefined
    }
    const through = ok && point !== undefined ? yield* storeErrors(written(sql, since, point)) : undefined
    const failed = checks.flatMap((check) => (check.ok ? [] : [check.name]))
    const outcome = { durationMs: performance.now() - began, failed, provedWhole: ok && since === undefined }
    yield* storeErrors(writeLast(sql, outcome))
    return { checks, ok, since, through } satisfies Proof
  })

/**
 * Proves the books from the checkpoint on, or whole without one. When all is in order it moves the checkpoint to a point before which
 * no transaction can write any more. It records its outcome for every node.
 */
export const prove = (
  sql: SqlClient.SqlClient,
  verifying: (options: VerifyOptions) => Effect.Effect<Verification, Unavailable>,
  options: ProveOptions
): Effect.Effect<Proof, Unavailable> =>
  Effect.flatMap(attempt({ sql, verifying, options }), (proof) =>
    proof === undefined ? prove(sql, verifying, options) : Effect.succeed(proof)
  )
