import { Deferred, Effect, Exit, Fiber, Layer, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../schemas/Api.ts"
import { decodeEmbeddings } from "../dialects/embeddings/EmbeddingsDecode.ts"
import { afterList, beforeList } from "../dialects/embeddings/EmbeddingsEncode.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import { MAX_KEPT_BYTES } from "../inference/Answer.ts"
import type { PaidRequest } from "../inference/Request.ts"
import { Work, type WorkAnswer, type WorkRequest } from "../inference/Work.ts"
import type { ProviderError } from "../providers/Provider.ts"
import type { ArrivingVectors, Embedded, EmbedWork } from "../providers/Work.ts"
import { countEmbed, embedBound, fits, longestInput } from "../providers/WorkTokens.ts"
import { answered } from "./Chat.ts"
import { replayHeader } from "./ChatOperation.ts"
import { Exchange } from "./Exchange.ts"
import { logged } from "./Failures.ts"
import { leanHandlers } from "./Lean.ts"
import { paidWork } from "./PaidWork.ts"
import { type ArrivingList, VectorStream } from "./VectorStream.ts"

/** What is kept of an answer: its list as text, since what was parsed could not be said again to the byte. */
interface Kept {
  readonly data: string
}

const keep = ({ arriving, data }: Embedded): Kept | undefined =>
  arriving !== undefined || data.length > MAX_KEPT_BYTES ? undefined : { data: Buffer.from(data).toString() }

/** The vectors again, of what was kept of them. */
export const restoreEmbedded = (kept: unknown): Embedded => ({
  data: Buffer.from((kept as Kept).data),
  tokens: undefined
})

/** What a work with these inputs asks of whoever does it. */
const requestOf = (paid: PaidRequest, asked: EmbedWork): WorkRequest<Embedded> => {
  const longest = longestInput(asked)
  return {
    ...paid,
    modality: "embedding",
    bound: { kind: "tokens", promptBound: embedBound(asked) },
    fits: asked.truncation ? undefined : (window: number) => fits(longest, window),
    promptTokens: longest.tokens,
    param: "input",
    ask: (provider, call) => provider.embed?.(call, asked),
    used: ({ tokens }) => tokens,
    counted: () => countEmbed(asked),
    keep,
    restore: restoreEmbedded
  }
}

const brokenOff = (error: ProviderError): Failure =>
  failure({ _tag: "UpstreamError", detail: "the answer broke off" }, error)

/** The same embeddings when all of them have come. */
const wholeOf = (embedded: Embedded): Effect.Effect<Embedded, Failure> =>
  embedded.arriving === undefined
    ? Effect.succeed(embedded)
    : Effect.map(Effect.mapError(embedded.arriving.whole, brokenOff), (tokens) => ({ ...embedded, tokens }))

/** The same with all that was still to come in its list. */
const gathered = ({ arriving, data, tokens }: Embedded): Effect.Effect<Embedded, Failure> =>
  arriving === undefined
    ? Effect.succeed({ data, tokens })
    : Effect.gen(function* () {
        const parts: Array<Uint8Array> = [data]
        for (let more = yield* arriving.next; more !== undefined; more = yield* arriving.next) parts.push(...more)
        return { data: Buffer.concat(parts), tokens: yield* Effect.mapError(arriving.whole, brokenOff) }
      })

/** A request whose answer is taken as a whole, however long it is. */
export const wholeRequest = (paid: PaidRequest, asked: EmbedWork): WorkRequest<Embedded> => ({
  ...requestOf(paid, asked),
  deliver: gathered
})

const contentType = { "content-type": "application/json" }

const respond = (model: string, answer: WorkAnswer<Embedded>) => {
  const parts = [Buffer.from(beforeList(model)), answer.value.data, Buffer.from(afterList(answer))]
  return HttpServerResponse.uint8Array(Buffer.concat(parts), {
    headers: { ...contentType, ...replayHeader(answer.replayed) }
  })
}

const embeddings = Effect.gen(function* () {
  const work = yield* Work
  const log = Effect.runForkWith(yield* Effect.context())
  const accept = yield* paidWork({ operation: "embeddings", path: "/embeddings" }, decodeEmbeddings)
  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const exchange = yield* Exchange
    const { decoded, paid } = yield* accept(request)
    const { model } = decoded
    const begun = Deferred.makeUnsafe<ArrivingVectors>()
    const asked: WorkRequest<Embedded> = {
      ...requestOf(paid, decoded.work),
      deliver: (embedded) => {
        if (embedded.arriving !== undefined) Deferred.doneUnsafe(begun, Exit.succeed(embedded.arriving))
        return wholeOf(embedded)
      }
    }
    // Beside its answer the request goes on to its end, whether somebody reads or not.
    const running = yield* Effect.forkDetach(work.run(asked), { startImmediately: true })
    const settled = Fiber.join(running)
    const first = Effect.raceFirst(Effect.map(Deferred.await(begun), Result.fail), Effect.map(settled, Result.succeed))
    const answer = yield* Effect.onInterrupt(first, () => Fiber.interrupt(running))
    if (Result.isSuccess(answer)) return respond(model, answer.success)
    const list: ArrivingList = {
      before: beforeList(model),
      arriving: answer.failure,
      after: Effect.map(settled, afterList),
      onError: (failed) => void log(logged(failed, exchange))
    }
    return HttpServerResponse.raw(new VectorStream(list), { headers: contentType })
  })
})

/** `POST /embeddings`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const embed = yield* embeddings
    return leanHandlers(
      HttpApiBuilder.group(Api, "embeddings", (handlers) =>
        handlers.handleRaw("embeddings", ({ request }) => answered(embed(request)))
      )
    )
  })
)
