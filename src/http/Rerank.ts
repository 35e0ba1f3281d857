import { Effect, Layer } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../schemas/Api.ts"
import { decodeRerank } from "../dialects/rerank/RerankDecode.ts"
import { encodeRerank } from "../dialects/rerank/RerankEncode.ts"
import { Work } from "../inference/Work.ts"
import type { Reranked, RerankWork } from "../providers/Work.ts"
import { countRerank, fits, longestPair, rerankBound } from "../providers/WorkTokens.ts"
import { answered } from "./Chat.ts"
import { replayHeader } from "./ChatOperation.ts"
import { leanHandlers } from "./Lean.ts"
import { paidWork } from "./PaidWork.ts"

/** What a work with these documents asks of whoever does it. */
const requestOf = (asked: RerankWork) => {
  const longest = longestPair(asked)
  return {
    modality: "rerank" as const,
    bound: { kind: "tokens" as const, prompt: rerankBound(asked) },
    fits: asked.truncation ? undefined : (window: number) => fits(longest, window),
    promptTokens: longest.tokens,
    param: "documents",
    used: ({ tokens }: Reranked) => tokens,
    counted: () => countRerank(asked),
    keep: (answer: Reranked) => answer
  }
}

const reranking = Effect.gen(function* () {
  const work = yield* Work
  const accept = yield* paidWork({ operation: "rerank", path: "/rerank" }, decodeRerank)
  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const { decoded, paid } = yield* accept(request)
    const answer = yield* work.run<Reranked>({
      ...paid,
      ...requestOf(decoded.work),
      ask: (provider, call) => provider.rerank?.(call, decoded.work)
    })
    const facts = { ...answer, results: answer.value.results, tokens: answer.used }
    return HttpServerResponse.jsonUnsafe(encodeRerank(decoded, facts), { headers: replayHeader(answer.replayed) })
  })
})

/** `POST /rerank`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const rerank = yield* reranking
    return leanHandlers(
      "rerank",
      HttpApiBuilder.group(Api, "rerank", (handlers) =>
        handlers.handleRaw("rerank", ({ request }) => answered(rerank(request)))
      )
    )
  })
)
