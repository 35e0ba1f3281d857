import { Effect, Layer, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../schemas/Api.ts"
import { decodeEmbeddings } from "../dialects/embeddings/EmbeddingsDecode.ts"
import { encodeEmbeddings } from "../dialects/embeddings/EmbeddingsEncode.ts"
import { MAX_KEPT_BYTES } from "../inference/Answer.ts"
import type { PaidRequest } from "../inference/Request.ts"
import { Work, type WorkRequest } from "../inference/Work.ts"
import type { Embedded, EmbedWork } from "../providers/Work.ts"
import { countEmbed, embedBound, fits, longestInput } from "../providers/WorkTokens.ts"
import { answered } from "./Chat.ts"
import { replayHeader } from "./ChatOperation.ts"
import { leanHandlers } from "./Lean.ts"
import { paidWork } from "./PaidWork.ts"

/** What is kept of an answer: its list as text, since what was parsed could not be said again to the byte. */
interface Kept {
  readonly data: string
}

const keep = ({ data }: Embedded): Kept | undefined =>
  data.length > MAX_KEPT_BYTES ? undefined : { data: Buffer.from(data).toString() }

/** The vectors again, of what was kept of them. */
export const restoreEmbedded = (kept: unknown): Embedded => ({
  data: Buffer.from((kept as Kept).data),
  tokens: undefined
})

/** What a work with these inputs asks of whoever does it. */
export const embedRequest = (paid: PaidRequest, asked: EmbedWork): WorkRequest<Embedded> => {
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

/** Up to this length the parts of a body are copied together; longer ones are written one after the other. */
const MAX_COPIED_BYTES = 65_536

const responseOf = (before: string, data: Uint8Array, after: string, headers: Readonly<Record<string, string>>) => {
  const parts = [Buffer.from(before), data, Buffer.from(after)]
  const contentLength = parts.reduce((length, part) => length + part.length, 0)
  const contentType = "application/json"
  return contentLength <= MAX_COPIED_BYTES
    ? HttpServerResponse.uint8Array(Buffer.concat(parts), { contentType, headers })
    : HttpServerResponse.stream(Stream.fromIterable(parts, { chunkSize: 1 }), { contentType, contentLength, headers })
}

const embeddings = Effect.gen(function* () {
  const work = yield* Work
  const accept = yield* paidWork({ operation: "embeddings", path: "/embeddings" }, decodeEmbeddings)
  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const { decoded, paid } = yield* accept(request)
    const answer = yield* work.run(embedRequest(paid, decoded.work))
    const { after, before } = encodeEmbeddings({ ...answer, model: decoded.model, tokens: answer.used })
    return responseOf(before, answer.value.data, after, replayHeader(answer.replayed))
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
