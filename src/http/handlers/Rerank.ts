import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { decodeRerank } from "../../dialects/rerank/RerankDecode.ts"
import { encodeRerank } from "../../dialects/rerank/RerankEncode.ts"
import type { PaidRequest } from "../../inference/Request.ts"
import { Work, type WorkRequest } from "../../inference/Work.ts"
import type { Ranking, RerankWork } from "../../domain/Work.ts"
import { countRerank, fits, longestPair, rerankBound } from "../../domain/WorkSize.ts"
import { replayHeader } from "./ChatOperation.ts"
import { paidWork } from "./PaidWork.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

/** Builds the paid request to rank these documents. */
export const rerankRequest = (paid: PaidRequest, work: RerankWork): WorkRequest<Ranking> => {
  const longest = longestPair(work)
  return {
    ...paid,
    modality: "rerank",
    bound: { kind: "tokens", prompt: rerankBound(work) },
    fits: work.truncation ? undefined : (window: number) => fits(longest, window),
    promptTokens: longest.tokens,
    param: "documents",
    used: ({ tokens }: Ranking) => tokens,
    counted: () => countRerank(work),
    keep: (answer: Ranking) => answer,
    ask: (provider, call) => provider.rerank?.(call, work)
  }
}

const reranking = Effect.gen(function* () {
  const work = yield* Work
  const accept = yield* paidWork({ operation: "rerank", path: "/rerank" }, decodeRerank)
  return Effect.fnUntraced(function* (request: ApiRequest) {
    const { decoded, paid } = yield* accept(request)
    const answer = yield* work.run(rerankRequest(paid, decoded.work))
    const facts = { ...answer, results: answer.value.results, tokens: answer.used }
    return HttpServerResponse.jsonUnsafe(encodeRerank(decoded, facts), { headers: replayHeader(answer.replayed) })
  })
})

/** `POST /rerank`. */
export const rerankHandlers = Effect.gen(function* () {
  const rerank = yield* reranking
  return operations("rerank", {
    rerank: ({ request }) => rerank(request)
  })
})
