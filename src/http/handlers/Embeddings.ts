import { Deferred, Effect, Exit, Fiber, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { decodeEmbeddings } from "../../dialects/embeddings/EmbeddingsDecode.ts"
import { afterList, beforeList } from "../../dialects/embeddings/EmbeddingsEncode.ts"
import { type Failure, failure } from "../../domain/Failure.ts"
import { MAX_KEPT_BYTES } from "../../inference/Answer.ts"
import type { PaidRequest } from "../../inference/Request.ts"
import { Work, type WorkAnswer, type WorkRequest } from "../../inference/Work.ts"
import type { WorkAttempt } from "../../providers/pool/ProviderPool.ts"
import type { ProviderError } from "../../providers/ProviderError.ts"
import type { ArrivingVectors, Embeddings } from "../../providers/Work.ts"
import type { EmbedWork } from "../../domain/Work.ts"
import { mostEmbedBytes } from "../../providers/wire/EmbedDecode.ts"
import {
  AnswerMemory,
  isShort,
  type MemoryReservation,
  type ReservableMemory
} from "../../providers/pool/AnswerMemory.ts"
import { countEmbed, embedBound, fits, longestInput } from "../../domain/WorkSize.ts"
import { replayHeader } from "./ChatOperation.ts"
import { Exchange } from "../edge/Exchange.ts"
import { logFailure, markFailedResponse } from "../Failures.ts"
import { paidWork, readerOf } from "./PaidWork.ts"
import { type ArrivingList, VectorStream } from "./VectorStream.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

/** The stored form of an answer. Its list is kept as text, because a parsed list could not be serialized byte for byte again. */
interface StoredEmbeddings {
  readonly data: string
}

const keep = ({ arriving, data }: Embeddings): StoredEmbeddings | undefined =>
  arriving !== undefined || data.length > MAX_KEPT_BYTES ? undefined : { data: Buffer.from(data).toString() }

/** Restores the vectors from the stored form. */
export const restoreEmbedded = (kept: unknown): Embeddings => ({
  data: Buffer.from((kept as StoredEmbeddings).data),
  tokens: undefined
})

/** How long to wait for memory while a client waits, and in a batch, where none does, in milliseconds. */
const WAIT_MS = 5_000
const BATCH_WAIT_MS = 60_000

/** The memory reservation of an answer, if it needs one. */
interface ReservationOptions {
  readonly memory: ReservableMemory
  readonly waitMs: number
  readonly onTaken?: (reservation: MemoryReservation) => void
}

/** Calls the provider within the account's share of memory, so that waiting for memory does not occupy a provider. */
const askWithin = (
  { onTaken, memory, waitMs }: ReservationOptions,
  { principal: { accountId } }: PaidRequest,
  work: EmbedWork
): WorkRequest<Embeddings>["ask"] => {
  const attempt: WorkAttempt<Embeddings> = (provider, call) => provider.embed?.(call, work)
  const maxBodyBytes = mostEmbedBytes(work)
  if (isShort(maxBodyBytes)) return attempt
  return Effect.map(memory.take({ accountId, maxBodyBytes, waitMs }), (reservation) => {
    onTaken?.(reservation)
    return attempt
  })
}

/** The service request for embedding these inputs. */
const requestOf = (paid: PaidRequest, work: EmbedWork, reservation: ReservationOptions): WorkRequest<Embeddings> => {
  const longest = longestInput(work)
  return {
    ...paid,
    modality: "embedding",
    bound: { kind: "tokens", prompt: embedBound(work) },
    fits: work.truncation ? undefined : (window: number) => fits(longest, window),
    promptTokens: longest.tokens,
    param: "input",
    ask: askWithin(reservation, paid, work),
    used: ({ tokens }) => tokens,
    counted: () => countEmbed(work),
    rest: ({ arriving }) => arriving && { ended: arriving.whole },
    keep,
    restore: restoreEmbedded
  }
}

/** Returns the work for the first `count` inputs only. */
const firstOf = ({ inputs }: EmbedWork, count: number): Pick<EmbedWork, "inputs"> => ({
  inputs: inputs.slice(0, count)
})

const brokenOff = (error: ProviderError): Failure =>
  failure({ _tag: "UpstreamError", detail: "the answer broke off" }, error)

/** Waits until all embeddings have arrived, and returns them with the final token count. */
const wholeOf = (embedded: Embeddings): Effect.Effect<Embeddings, Failure> =>
  embedded.arriving === undefined
    ? Effect.succeed(embedded)
    : Effect.map(Effect.mapError(embedded.arriving.whole, brokenOff), (tokens) => ({ ...embedded, tokens }))

/** Waits for the rest of a streamed list, and returns the embeddings with the whole list. */
const gatherList = ({ arriving, data, tokens }: Embeddings): Effect.Effect<Embeddings, Failure> =>
  arriving === undefined
    ? Effect.succeed({ data, tokens })
    : Effect.gen(function* () {
        const parts: Array<Uint8Array> = [data]
        for (let more = yield* arriving.next; more !== undefined; more = yield* arriving.next) parts.push(...more)
        return { data: Buffer.concat(parts), tokens: yield* Effect.mapError(arriving.whole, brokenOff) }
      })

/** Runs a request for a complete answer of any length. */
export const wholeRequest = (
  memory: ReservableMemory,
  paid: PaidRequest,
  work: EmbedWork
): WorkRequest<Embeddings> => ({
  ...requestOf(paid, work, { memory, waitMs: BATCH_WAIT_MS }),
  deliver: gatherList
})

const contentType = { "content-type": "application/json" }

const respond = (model: string, answer: WorkAnswer<Embeddings>) => {
  const parts = [Buffer.from(beforeList(model)), answer.value.data, Buffer.from(afterList(answer))]
  return HttpServerResponse.uint8Array(Buffer.concat(parts), {
    headers: { ...contentType, ...replayHeader(answer.replayed) }
  })
}

/** The size of the pieces in which a complete list is sent, in bytes. */
const PIECE_BYTES = 262_144

const inPieces = (data: Uint8Array): ArrivingList["arriving"] => {
  let at = 0
  return { next: Effect.sync(() => (at < data.length ? [data.subarray(at, (at += PIECE_BYTES))] : undefined)) }
}

/** Sends a list that is too long to be sent at once. */
const respondLong = (model: string, answer: WorkAnswer<Embeddings>, list: Pick<ArrivingList, "onError" | "over">) => {
  const { data } = answer.value
  const [before, after] = [beforeList(model), afterList(answer)]
  const length = Buffer.byteLength(before) + data.length + Buffer.byteLength(after)
  const body = new VectorStream({ ...list, before, arriving: inPieces(data), after: Effect.succeed(after) })
  return HttpServerResponse.raw(body, { headers: { ...contentType, "content-length": String(length) } })
}

const embeddings = Effect.gen(function* () {
  const work = yield* Work
  const memory = yield* AnswerMemory
  const log = Effect.runForkWith(yield* Effect.context())
  const accept = yield* paidWork({ operation: "embeddings", path: "/embeddings" }, decodeEmbeddings)
  return Effect.fnUntraced(function* (request: ApiRequest) {
    const exchange = yield* Exchange
    const { decoded, paid } = yield* accept(request)
    const { model } = decoded
    const reader = readerOf(request)
    const begun = Deferred.makeUnsafe<ArrivingVectors>()
    let reservation: MemoryReservation | undefined
    const workRequest: WorkRequest<Embeddings> = {
      ...requestOf(paid, decoded.work, { memory, waitMs: WAIT_MS, onTaken: (taken) => (reservation = taken) }),
      rest: ({ arriving }) =>
        arriving && { ended: arriving.whole, part: () => countEmbed(firstOf(decoded.work, arriving.count)) },
      deliver: (embedded) => {
        if (reservation !== undefined) reader.onGone(reservation.hold())
        const { arriving } = embedded
        if (arriving !== undefined) {
          reader.onGone(() => arriving.leave())
          Deferred.doneUnsafe(begun, Exit.succeed(arriving))
        }
        return wholeOf(embedded)
      }
    }
    // In parallel to its response, the request runs to its end whether or not a client reads it.
    const running = yield* Effect.forkDetach(work.run(workRequest), { startImmediately: true })
    const settled = Fiber.join(running)
    const first = Effect.raceFirst(Effect.map(Deferred.await(begun), Result.fail), Effect.map(settled, Result.succeed))
    const answer = yield* Effect.onInterrupt(first, () => Fiber.interrupt(running))
    const onError = (failed: Failure) => {
      markFailedResponse(failed, exchange)
      log(logFailure(failed, exchange))
    }
    const writing = { over: reader.gone, onError }
    if (Result.isSuccess(answer)) {
      return reservation === undefined ? respond(model, answer.success) : respondLong(model, answer.success, writing)
    }
    const list: ArrivingList = {
      ...writing,
      before: beforeList(model),
      arriving: answer.failure,
      after: Effect.map(settled, afterList)
    }
    return HttpServerResponse.raw(new VectorStream(list), { headers: contentType })
  })
})

/** `POST /embeddings`. */
export const embeddingsHandlers = Effect.gen(function* () {
  const embed = yield* embeddings
  return operations("embeddings", {
    embeddings: ({ request }) => embed(request)
  })
})
