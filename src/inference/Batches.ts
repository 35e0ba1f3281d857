import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Principal } from "../../schemas/Access.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { Jobs } from "../jobs/Jobs.ts"
import { isResourceId, newResourceId } from "../platform/Ids.ts"
import { Media } from "../platform/Media.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { batchById, batchesOf, type BatchRow, cancelBatch, insertBatch } from "./BatchesSql.ts"
import type { Surface, SurfaceUrl } from "./Surface.ts"

/** Every operation that a batch can be made of. Dialects are not known here, so they are given from where they are. */
export class Surfaces extends Context.Service<Surfaces, Readonly<Record<SurfaceUrl, Surface>>>()(
  "tollgate/inference/Surfaces"
) {}

/** How long a batch may take: what is not served by then is not served at all. */
const WINDOW_MS = 24 * 3_600_000

/** A batch that is asked for. */
export interface NewBatch {
  readonly principal: Principal
  readonly inputFileId: string
  readonly endpoint: string
  readonly metadata: Readonly<Record<string, string>> | null
}

/** Batches that run in the background, whose requests come in a file and whose answers go into files. */
export class Batches extends Context.Service<
  Batches,
  {
    /** Begins a batch; fails with `ValidationError` where its input is no such file of the account's. */
    readonly create: (batch: NewBatch) => Effect.Effect<BatchRow, Failure | Unavailable>
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
        create: ({ endpoint, inputFileId, metadata, principal }) =>
          Effect.gen(function* () {
            const file = yield* media.find(principal.accountId, inputFileId)
            if (file?.purpose !== "batch_input") {
              return yield* invalid("input_file_id", "no file of this account with the purpose batch")
            }
            const id = newResourceId()
            const inserted = insertBatch(sql, {
              id,
              account_id: principal.accountId,
              principal: JSON.stringify(principal),
              endpoint,
              input_file_id: inputFileId,
              metadata: metadata === null ? null : JSON.stringify(metadata),
              window_ms: WINDOW_MS
            })
            return yield* storeErrors(sql.withTransaction(Effect.tap(inserted, () => jobs.enqueue("batches", id))))
          }),
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

/** There is no such batch of the caller's. */
export const noBatch = (id: string): Failure => failure({ _tag: "NotFound", what: "batch", id })
