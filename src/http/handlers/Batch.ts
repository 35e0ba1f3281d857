import { messageOf, table } from "../FailureRows.ts"
import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { Caller, type Principal } from "../../../schemas/Access.ts"
import type { BatchList } from "../../../schemas/inference/Batch.ts"
import type { BatchItem as WireItem } from "../../../schemas/inference/BatchItem.ts"
import { decodeBatch, type DecodedEntry } from "../../dialects/batch/BatchDecode.ts"
import { canonicalJson } from "../../domain/CanonicalJson.ts"
import { failedAt, type Failure, failure, invalid } from "../../domain/Failure.ts"
import { usdFromNano } from "../../domain/Money.ts"
import { Batch, type BatchItem, type BatchOutcome, type BatchRequest } from "../../batches/Batch.ts"
import { BatchOperations } from "../../batches/Batches.ts"
import type { AcceptedBody, ServedItem } from "../../inference/BatchOperation.ts"
import type { Claim } from "../../ledger/Operation.ts"
import { Config } from "../../platform/config/Config.ts"
import { newRequestId } from "../../platform/Ids.ts"
import { readJson } from "../edge/Body.ts"
import { requestContextOf, ignoredHeader, replayHeader } from "./ChatOperation.ts"
import { Exchange } from "../edge/Exchange.ts"
import { bodyOf, headersOf, logFailure } from "../Failures.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

const PATH = "/batch"

/**
 * The maximum total size of a batch's embeddings in bytes, because they are in memory at the same time. It equals the maximum of a
 * single request; current hosts need a third of it.
 */
const MAX_EMBEDDINGS_BYTES = 272 * 1_048_576

/** Returns the first request with which the embeddings may become too large for one response. */
const tooMany = (
  entries: ReadonlyArray<DecodedEntry>,
  accepted: ReadonlyArray<Pick<AcceptedBody, "mostBytes">>
): Failure | undefined => {
  let bytes = 0
  const index = accepted.findIndex(({ mostBytes = 0 }) => (bytes += mostBytes) > MAX_EMBEDDINGS_BYTES)
  if (index < 0) return undefined
  const message =
    "must not make the embeddings of the batch too large for one response: request fewer, fewer dimensions or base64"
  return invalid(`${entries[index]!.at}.input`, message)
}

/** The status of a served request of a batch. */
const SERVED = 200

/** The claim of one request of a batch, in a scope that no client's own key can produce. */
const itemClaim = (claim: Claim | undefined, index: number, { body, url }: DecodedEntry): Claim | undefined =>
  claim && {
    idempotencyKey: `${claim.idempotencyKey}:${index}`,
    claim: `POST ${PATH}/${index} ${claim.idempotencyKey}`,
    fingerprint: createHash("sha256")
      .update(`POST ${url}\n${canonicalJson(body)}`)
      .digest("hex")
  }

/** The JSON of an item. Its answer is already JSON and may be large, so it is not parsed again. */
const itemText = ({ body, requestId }: ServedItem, index: number, { customId }: DecodedEntry): string => {
  const unavailable = { _tag: "IdempotencyResultUnavailable", requestId } as const
  const item = {
    index,
    custom_id: customId,
    response: null,
    error: body === undefined ? { code: table[unavailable._tag].code, message: messageOf(unavailable) } : null
  } satisfies WireItem
  const text = JSON.stringify(item)
  if (body === undefined) return text
  const response = `{"status_code":${SERVED},"request_id":${JSON.stringify(requestId)},"body":${body}}`
  return text.replace('"response":null', () => `"response":${response}`)
}

/** The JSON of the served items, in pieces, because one string could become too long. */
const itemsOf = ({ served }: BatchOutcome, entries: ReadonlyArray<DecodedEntry>): ReadonlyArray<Buffer> => {
  const pieces: Array<Buffer> = []
  for (const [index, entry] of entries.entries()) {
    const one = served[index]
    if (one === undefined) continue
    pieces.push(Buffer.from(`${pieces.length === 0 ? "" : ","}${itemText(one, index, entry)}`))
  }
  return pieces
}

const around = (before: string, items: ReadonlyArray<Buffer>, after: string): Buffer =>
  Buffer.concat([Buffer.from(before), ...items, Buffer.from(after)])

const asJson = { contentType: "application/json" }

const doneResponse = (
  outcome: BatchOutcome,
  entries: ReadonlyArray<DecodedEntry>,
  headers: Readonly<Record<string, string>>
): HttpServerResponse.HttpServerResponse => {
  const { balanceWarning, replayed, requestId, served } = outcome
  const cost = served.reduce((all, one) => all + (one?.cost ?? 0n), 0n)
  const tail: Omit<BatchList, "object" | "data"> = {
    cost_usd: usdFromNano(cost),
    request_id: requestId,
    ...(balanceWarning === undefined ? {} : { balance_warning: { warning: "low_balance", threshold: balanceWarning } })
  }
  const end = `],${JSON.stringify(tail).slice(1)}`
  const body = around('{"object":"list","data":[', itemsOf(outcome, entries), end)
  return HttpServerResponse.uint8Array(body, { ...asJson, headers: { ...headers, ...replayHeader(replayed) } })
}

/** The response of a failed batch contains the served requests, because they are paid for. */
const failedResponse = (
  outcome: BatchOutcome,
  entries: ReadonlyArray<DecodedEntry>,
  failed: NonNullable<BatchOutcome["failed"]>
): HttpServerResponse.HttpServerResponse => {
  const { failure: cause, index } = failed
  const error = failure({ _tag: "BatchRequestFailed", index, detail: messageOf(cause.reason) })
  const begin = `${JSON.stringify(bodyOf(error)).slice(0, -1)},"completed":[`
  const body = around(begin, itemsOf(outcome, entries), "]}")
  const { status } = table[error.reason._tag]
  return HttpServerResponse.uint8Array(body, { ...asJson, status, headers: headersOf(error) })
}

const batches = Effect.gen(function* () {
  const batch = yield* Batch
  const served = yield* BatchOperations
  const { sandbox } = yield* Config
  return Effect.fnUntraced(function* (request: ApiRequest) {
    const exchange = yield* Exchange
    const principal = yield* Caller
    const body = yield* readJson(request)
    const entries = yield* Effect.fromResult(decodeBatch(body))
    const received = { request, exchange, principal, body, operation: "batch", path: PATH, sandbox }
    const requestContext = yield* Effect.fromResult(requestContextOf(received))
    const { arrivedAt, claim, requestId, trace } = requestContext
    // One by one, so that the error names the first invalid request.
    const acceptedFor = (caller: Principal) =>
      Effect.forEach(entries, (entry, index) => {
        const { accept, operation } = served[entry.url]
        const item = { operation, principal: caller, claim: itemClaim(claim, index, entry) }
        const inPlace = (error: Parameters<typeof failedAt>[1]) => failedAt(entry.at, error)
        return Effect.mapBoth(accept(entry.body, { ...requestContext, ...item, requestId: newRequestId() }), {
          onFailure: inPlace,
          onSuccess: ({ bounds, ...one }) => ({
            ...one,
            claim: item.claim,
            bounds: () => Result.mapError(bounds(), inPlace)
          })
        })
      })
    const accepted = yield* acceptedFor(principal)
    const refused = tooMany(entries, accepted)
    if (refused !== undefined) return yield* refused
    const items: ReadonlyArray<BatchItem> = accepted
    const itemsFor: BatchRequest["itemsFor"] = acceptedFor
    const outcome = yield* batch.run({ requestId, principal, claim, trace, arrivedAt, items, itemsFor })
    if (outcome.failed !== undefined) {
      yield* logFailure(outcome.failed.failure, exchange)
      return failedResponse(outcome, entries, outcome.failed)
    }
    const ignored = [...new Set(accepted.flatMap((one) => one.ignored))]
    return doneResponse(outcome, entries, ignoredHeader(ignored))
  })
})

/** `POST /batch`. */
export const batchHandlers = Effect.gen(function* () {
  const run = yield* batches
  return operations("batch", {
    batch: ({ request }) => run(request)
  })
})
