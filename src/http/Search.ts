import { Effect, Layer, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../schemas/Api.ts"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { decodeSearch } from "../dialects/search/SearchDecode.ts"
import { encodeSearch } from "../dialects/search/SearchEncode.ts"
import { type Failure, failure, type Reason } from "../domain/Failure.ts"
import { Work } from "../inference/Work.ts"
import type { Found } from "../providers/Work.ts"
import { answered } from "./Chat.ts"
import { replayHeader } from "./ChatOperation.ts"
import { leanHandlers } from "./Lean.ts"
import { paidWork } from "./PaidWork.ts"

/** However it came about that none answers at present, search is what failed. What does not pass by itself stays what it is. */
const failed = (reason: Reason): Reason => {
  if (reason._tag === "UpstreamTimeout") return { _tag: "SearchFailed" }
  if (reason._tag !== "UpstreamError" && reason._tag !== "NoProviderAvailable") return reason
  const { retryAfterSeconds } = reason
  if (retryAfterSeconds !== undefined) return { _tag: "SearchFailed", retryAfterSeconds }
  return reason._tag === "UpstreamError" ? { _tag: "SearchFailed" } : reason
}

const none: Failure = failure({ _tag: "NoProviderAvailable", detail: "There is no search engine at present" })

const search = Effect.gen(function* () {
  const work = yield* Work
  const catalogue = yield* Catalogue
  /** The catalogue's first search engine that answers. */
  const preferred = (): Result.Result<string, Failure> => {
    const found = catalogue.all.find((model) => model.modality === "search" && catalogue.isServable(model))
    return found === undefined ? Result.fail(none) : Result.succeed(found.id)
  }
  const decode = (body: unknown) =>
    Result.gen(function* () {
      const decoded = yield* decodeSearch(body)
      return { ...decoded, model: decoded.model ?? (yield* preferred()) }
    })
  const accept = yield* paidWork({ operation: "search", path: "/search" }, decode)
  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const { decoded, paid } = yield* accept(request)
    const { length } = decoded.work.queries
    const answer = yield* work.run<Found>({
      ...paid,
      modality: "search",
      bound: { kind: "units", units: length },
      ask: (provider, call) => provider.search?.(call, decoded.work),
      used: () => undefined,
      counted: () => length,
      keep: (found) => found,
      failed
    })
    return HttpServerResponse.jsonUnsafe(encodeSearch(answer, decoded), { headers: replayHeader(answer.replayed) })
  })
})

/** `POST /search`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const find = yield* search
    return leanHandlers(
      "search",
      HttpApiBuilder.group(Api, "search", (handlers) =>
        handlers.handleRaw("search", ({ request }) => answered(find(request)))
      )
    )
  })
)
