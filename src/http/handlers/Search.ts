import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Principal } from "../../../schemas/Access.ts"
import { Catalogue } from "../../catalogue/Catalogue.ts"
import { decodeSearch } from "../../dialects/search/SearchDecode.ts"
import { encodeSearch } from "../../dialects/search/SearchEncode.ts"
import { basePolicy } from "../../dialects/Routing.ts"
import { type Failure, failure, type Reason } from "../../domain/Failure.ts"
import type { PaidRequest } from "../../inference/Request.ts"
import { Work } from "../../inference/Work.ts"
import type { SearchResults, SearchWork } from "../../domain/Work.ts"
import { replayHeader } from "./ChatOperation.ts"
import { paidWork } from "./PaidWork.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

/** For the caller, any temporary problem of a search engine is a failed search. Permanent ones stay unchanged. */
const failed = (reason: Reason): Reason => {
  if (reason._tag === "UpstreamTimeout") return { _tag: "SearchFailed" }
  if (reason._tag !== "UpstreamError" && reason._tag !== "NoProviderAvailable") return reason
  const { retryAfterSeconds } = reason
  if (retryAfterSeconds !== undefined) return { _tag: "SearchFailed", retryAfterSeconds }
  return reason._tag === "UpstreamError" ? { _tag: "SearchFailed" } : reason
}

const none: Failure = failure({ _tag: "NoProviderAvailable", detail: "No search engine is available" })

/** Decodes and carries out searches of every origin. */
export const searches = Effect.gen(function* () {
  const work = yield* Work
  const catalogue = yield* Catalogue
  /**
   * The catalogue's first active search engine that the routing admits. If the routing admits none, the first active one, which reports
   * that.
   */
  const preferred = ({ queries }: SearchWork, principal: Principal): Result.Result<string, Failure> => {
    const base = {
      policy: basePolicy(principal),
      modality: "search",
      bound: { kind: "units", units: queries.length }
    } as const
    const found = catalogue.all.filter((model) => model.modality === "search" && catalogue.isServable(model))
    const admitted = found.find(({ id }) => Result.isSuccess(work.prepare({ ...base, model: id })))
    const model = admitted ?? found[0]
    return model === undefined ? Result.fail(none) : Result.succeed(model.id)
  }
  const decode = (body: unknown, principal: Principal) =>
    Result.gen(function* () {
      const decoded = yield* decodeSearch(body)
      return { ...decoded, model: decoded.model ?? (yield* preferred(decoded.work, principal)) }
    })
  const find = (paid: PaidRequest, search: SearchWork) =>
    work.run<SearchResults>({
      ...paid,
      modality: "search",
      bound: { kind: "units", units: search.queries.length },
      ask: (provider, call) => provider.search?.(call, search),
      used: () => undefined,
      counted: () => search.queries.length,
      keep: (found) => found,
      failed
    })
  return { decode, find }
})

const search = Effect.gen(function* () {
  const { decode, find } = yield* searches
  const accept = yield* paidWork({ operation: "search", path: "/search" }, decode)
  return Effect.fnUntraced(function* (request: ApiRequest) {
    const { decoded, paid } = yield* accept(request)
    const answer = yield* find(paid, decoded.work)
    return HttpServerResponse.jsonUnsafe(encodeSearch(answer, decoded), { headers: replayHeader(answer.replayed) })
  })
})

/** `POST /search`. */
export const searchHandlers = Effect.gen(function* () {
  const find = yield* search
  return operations("search", {
    search: ({ request }) => find(request)
  })
})
