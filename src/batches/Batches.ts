import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Principal } from "../../schemas/Access.ts"
import { conflict, type Failure, failure, invalid } from "../domain/Failure.ts"
import { Jobs } from "../jobs/Jobs.ts"
import type { Claim } from "../ledger/Operation.ts"
import { isResourceId, newResourceId } from "../platform/Ids.ts"
import { Media } from "../platform/files/Media.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import {
  batchById,
  batchesOf,
  type BatchRow,
  cancelBatch,
  claimedBatch,
  countOpen,
  insertBatch,
  lockBatches
} from "./BatchesSql.ts"
import type { BatchOperation, BatchOperationUrl } from "../inference/BatchOperation.ts"

/** The operations that a batch can consist of. This room does not know the dialects, so `http` provides them. */
export class BatchOperations extends Context.Service<
  BatchOperations,
  Readonly<Record<BatchOperationUrl, BatchOperation>>
>()("tollgate/batches/BatchOperations") {}

/** How long a batch may run, in milliseconds. Requests that are not served by then expire. */
const WINDOW_MS = 24 * 3_600_000

/** The maximum number of unfinished batches per account, because all accounts share the batch workers. */
const MAX_OPEN = 20

/** A batch to create. */
export interface NewBatch {
  readonly principal: Principal
  readonly inputFileId: string
  readonly endpoint: string
  readonly metadata: Readonly<Record<string, string>> | null
  /** How long its output files are kept after they are written; null: the default for batch files. */
  readonly outputTtlSeconds: number | null
  readonly claim: Claim | undefined
  /** Fails when a new batch must not be started. A batch that was already created under the claim is returned without it. */
  readonly allowed: Effect.Effect<void, Failure>
}

/** A batch, and whether it was already created under the same claim. */
export interface CreatedBatch {
  readonly row: BatchRow
  readonly replayed: boolean
}

/** Batches that run in the background. They read requests from a file and write answers to files. */
export class Batches extends Context.Service<
  Batches,
  {
    /**
     * Creates a batch, or returns the one created under the same claim, which lasts until a day after the batch's end. Fails with
     * `ValidationError` when the account has no such input file, with `Conflict` when 20 batches of the account are unfinished, with
     * `IdempotencyKeyReused` when the claim belongs to a different batch, and with the failure of `allowed`.
     */
    readonly create: (batch: NewBatch) => Effect.Effect<CreatedBatch, Failure | Unavailable>
    /** Undefined when the batch does not exist or belongs to another account. */
    readonly find: (accountId: string, id: string) => Effect.Effect<BatchRow | undefined, Unavailable>
    /** One page of batches after `after`, newest first, and whether more follow. */
    readonly list: (
      accountId: string,
      page: { readonly limit: number; readonly after: string | undefined }
    ) => Effect.Effect<{ readonly rows: ReadonlyArray<BatchRow>; readonly more: boolean }, Unavailable>
    /** Starts no more lines of the batch. A batch that has ended stays unchanged. Undefined as with `find`. */
    readonly cancel: (accountId: string, id: string) => Effect.Effect<BatchRow | undefined, Unavailable>
  }
>()("tollgate/batches/Batches") {
  static readonly layer = Layer.effect(
    Batches,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const jobs = yield* Jobs
      const media = yield* Media
      const find = (accountId: string, id: string) =>
        isResourceId(id)
          ? Effect.map(storeErrors(batchById(sql, id)), (row) => (row?.account_id === accountId ? row : undefined))
          : Effect.undefined
      return Batches.of({
        create: (batch) => storeErrors(sql.withTransaction(createIn({ sql, jobs, media }, batch))),
        find,
        list: (accountId, { after, limit }) =>
          Effect.map(storeErrors(batchesOf(sql, accountId, { after: after ?? null, limit: limit + 1 })), (rows) => ({
            rows: rows.slice(0, limit),
            more: rows.length > limit
          })),
        cancel: (accountId, id) =>
          !isResourceId(id)
            ? Effect.undefined
            : Effect.flatMap(
                storeErrors(
                  sql.withTransaction(
                    Effect.tap(cancelBatch(sql, accountId, id), (row) =>
                      row === undefined ? Effect.void : jobs.enqueue("batches", id)
                    )
                  )
                ),
                (row) => (row === undefined ? find(accountId, id) : Effect.succeed(row))
              )
      })
    })
  )
}

interface Deps {
  readonly sql: SqlClient.SqlClient
  readonly jobs: Jobs["Service"]
  readonly media: Media["Service"]
}

/**
 * Runs under the account's lock, so that two requests with one claim create one batch, and two cannot both take the last free place.
 */
const createIn = ({ jobs, media, sql }: Deps, batch: NewBatch) =>
  Effect.gen(function* () {
    const { allowed, claim, endpoint, inputFileId, metadata, outputTtlSeconds, principal } = batch
    const { accountId } = principal
    yield* lockBatches(sql, accountId)
    const before = claim && (yield* claimedBatch(sql, accountId, claim.claim))
    if (before !== undefined) {
      if (before.fingerprint !== claim?.fingerprint) return yield* failure({ _tag: "IdempotencyKeyReused" })
      return { row: before, replayed: true }
    }
    yield* allowed
    const file = yield* media.find(accountId, inputFileId)
    if (file?.purpose !== "batch_input") {
      return yield* invalid("input_file_id", "must be a file of this account with the purpose `batch`")
    }
    const most = principal.mostBatches ?? MAX_OPEN
    if ((yield* countOpen(sql, accountId)) >= most) {
      const detail = `This account has ${most} unfinished batches, the maximum; wait for one to end, or cancel one`
      return yield* conflict(detail)
    }
    const id = newResourceId()
    const row = yield* insertBatch(sql, {
      id,
      account_id: accountId,
      principal: JSON.stringify(principal),
      endpoint,
      input_file_id: inputFileId,
      metadata: metadata === null ? null : JSON.stringify(metadata),
      output_ttl_seconds: outputTtlSeconds,
      claim: claim?.claim ?? null,
      fingerprint: claim?.fingerprint ?? null,
      window_ms: WINDOW_MS
    })
    yield* jobs.enqueue("batches", id)
    return { row, replayed: false }
  })

/** The error for a batch that the caller's account does not have. */
export const noBatch = (id: string): Failure => failure({ _tag: "NotFound", what: "batch", id })
