import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Principal } from "../../schemas/Access.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { Jobs } from "../jobs/Jobs.ts"
import type { Claim } from "../ledger/Operation.ts"
import { isResourceId, newResourceId } from "../platform/Ids.ts"
import { Media } from "../platform/Media.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
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
import type { Surface, SurfaceUrl } from "./Surface.ts"

/** Every operation that a batch can be made of. Dialects are not known here, so they are given from where they are. */
export class Surfaces extends Context.Service<Surfaces, Readonly<Record<SurfaceUrl, Surface>>>()(
  "tollgate/inference/Surfaces"
) {}

/** How long a batch may take: what is not served by then is not served at all. */
const WINDOW_MS = 24 * 3_600_000

/** Batches of an account that have not ended: they share what works on batches with those of all others. */
const MAX_OPEN = 20

/** A batch that is asked for. */
export interface NewBatch {
  readonly principal: Principal
  readonly inputFileId: string
  readonly endpoint: string
  readonly metadata: Readonly<Record<string, string>> | null
  /** How long its files are kept from when they are made; null for as long as files of batches are. */
  readonly outputTtlSeconds: number | null
  readonly claim: Claim | undefined
  /** Whether a new one may be begun; what was begun before under the claim is answered without it. */
  readonly allowed: Effect.Effect<void, Failure>
}

/** A batch, and whether it was made before under the same claim. */
export interface CreatedBatch {
  readonly row: BatchRow
  readonly replayed: boolean
}

/** Batches that run in the background, whose requests come in a file and whose answers go into files. */
export class Batches extends Context.Service<
  Batches,
  {
    /**
     * Begins a batch, or answers the one that was begun under its claim, which holds until a day after its end. Fails with
     * `ValidationError` where its input is no such file of the account's, with `Conflict` when 20 batches of the account have not
     * ended, with `IdempotencyKeyReused` where its claim is that of another one, and as `allowed` does.
     */
    readonly create: (batch: NewBatch) => Effect.Effect<CreatedBatch, Failure | Unavailable>
    /** Undefined when there is none, or it is another account's. */
    readonly find: (accountId: string, id: string) => Effect.Effect<BatchRow | undefined, Unavailable>
    /** Newest first, from behind `after`, and whether there are more. */
    readonly list: (
      accountId: string,
      page: { readonly limit: number; readonly after: string | undefined }
    ) => Effect.Effect<{ readonly rows: ReadonlyArray<BatchRow>; readonly more: boolean }, Unavailable>
    /** Begins no more of its lines. One that has ended stays as it is; undefined as with `find`. */
    readonly cancel: (accountId: string, id: string) => Effect.Effect<BatchRow | undefined, Unavailable>
  }
>()("tollgate/inference/Batches") {
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

interface Desk {
  readonly sql: SqlClient.SqlClient
  readonly jobs: Jobs["Service"]
  readonly media: Media["Service"]
}

/** Under the account's lock, so that two requests with one claim make one batch, and no two find the last free place. */
const createIn = ({ jobs, media, sql }: Desk, batch: NewBatch) =>
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
      return yield* invalid("input_file_id", "no file of this account with the purpose batch")
    }
    if ((yield* countOpen(sql, accountId)) >= MAX_OPEN) {
      const detail = `This account has ${MAX_OPEN} batches that have not ended, which is the most; wait for one, or cancel one`
      return yield* failure({ _tag: "Conflict", detail })
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

/** There is no such batch of the caller's. */
export const noBatch = (id: string): Failure => failure({ _tag: "NotFound", what: "batch", id })
