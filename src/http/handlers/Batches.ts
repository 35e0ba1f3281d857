import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller } from "../../../schemas/Access.ts"
import { type BatchObject, NewBatch } from "../../../schemas/inference/Batches.ts"
import { DEFAULT_LIMIT } from "../../../schemas/Page.ts"
import { decoder } from "../../dialects/Decode.ts"
import { basePolicy } from "../../dialects/Routing.ts"
import { type Failure, failure } from "../../domain/Failure.ts"
import { Batches, noBatch } from "../../batches/Batches.ts"
import type { BatchRow } from "../../batches/BatchesSql.ts"
import { secondsOf } from "../../domain/UnixTime.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import { zeroRetentionRefusal } from "./BatchFiles.ts"
import { readJson } from "../edge/Body.ts"
import { replayHeader } from "./ChatOperation.ts"
import { makeOwnerLine } from "./OwnerLine.ts"
import { requireFunds } from "./Funds.ts"
import { claimOf } from "../edge/Idempotency.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

const decodeBatch = decoder(NewBatch, { strict: true })

/** A batch as the API shows it. */
export const batchObjectOf = (row: BatchRow): BatchObject => ({
  id: row.id,
  object: "batch",
  endpoint: row.endpoint,
  errors: row.errors === null ? null : { object: "list", data: row.errors },
  input_file_id: row.input_file_id,
  completion_window: "24h",
  status: row.status,
  output_file_id: row.output_file_id,
  error_file_id: row.error_file_id,
  created_at: secondsOf(row.created_at),
  in_progress_at: secondsOf(row.in_progress_at),
  expires_at: secondsOf(row.expires_at),
  finalizing_at: secondsOf(row.finalizing_at),
  completed_at: secondsOf(row.completed_at),
  failed_at: secondsOf(row.failed_at),
  expired_at: secondsOf(row.expired_at),
  cancelling_at: secondsOf(row.cancelling_at),
  cancelled_at: secondsOf(row.cancelled_at),
  request_counts: { total: row.total, completed: row.completed, failed: row.failed },
  metadata: row.metadata
})

const respondWith = (row: BatchRow, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.jsonUnsafe(batchObjectOf(row), { headers })

const stored = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.mapError(effect, (error) =>
    (error as { readonly _tag?: string })._tag === "Unavailable"
      ? failure({ _tag: "StoreUnavailable" }, error)
      : (error as unknown as Failure)
  )

const batches = Effect.gen(function* () {
  const service = yield* Batches
  const ledger = yield* Ledger
  const withLine = yield* makeOwnerLine
  const one = (take: Batches["Service"]["find"], id: string) =>
    Effect.gen(function* () {
      const { accountId } = yield* Caller
      const row = yield* stored(take(accountId, id))
      return row === undefined ? yield* Effect.fail(noBatch(id)) : respondWith(row)
    })
  return {
    create: (request: ApiRequest) =>
      Effect.gen(function* () {
        const principal = yield* Caller
        const body = yield* readJson(request)
        const wire = yield* Effect.fromResult(decodeBatch(body))
        const { endpoint, input_file_id: inputFileId, metadata = null, output_expires_after: kept } = wire
        const claim = yield* Effect.fromResult(claimOf(request.headers["idempotency-key"], "POST", "/batches", body))
        const outputTtlSeconds = kept?.seconds ?? null
        const keeps = basePolicy(principal).dataPolicy !== "zero_retention"
        const allowed = keeps
          ? Effect.provideService(requireFunds(ledger), Caller, principal)
          : Effect.fail(zeroRetentionRefusal)
        const newBatch = { principal, inputFileId, endpoint, metadata, outputTtlSeconds, claim, allowed }
        const { replayed, row } = yield* stored(service.create(newBatch))
        return respondWith(row, replayHeader(replayed))
      }),
    list: ({ after, limit = DEFAULT_LIMIT }: { readonly after?: string; readonly limit?: number }) =>
      Effect.gen(function* () {
        const { accountId } = yield* Caller
        const { more, rows } = yield* stored(service.list(accountId, { limit, after }))
        return HttpServerResponse.jsonUnsafe({
          object: "list",
          data: rows.map(batchObjectOf),
          first_id: rows[0]?.id ?? null,
          last_id: rows.at(-1)?.id ?? null,
          has_more: more
        })
      }),
    find: (id: string) => one(service.find, id),
    cancel: (id: string) => withLine("batch.cancelled", { type: "batch", id }, one(service.cancel, id))
  }
})

/** `/batches`: background batches. */
export const batchesHandlers = Effect.map(batches, ({ cancel, create, find, list }) =>
  operations("batches", {
    createBatch: ({ request }) => create(request),
    listBatches: ({ query }) => list(query),
    getBatch: ({ params }) => find(params.batch_id),
    cancelBatch: ({ params }) => cancel(params.batch_id)
  })
)
