import { Clock, Effect, Redacted } from "effect"
import type { Outbound } from "../../platform/outbound/Outbound.ts"
import { targetOf } from "../../platform/outbound/OutboundCall.ts"
import { faultOf, type RefusedAnswer, retryAfterSeconds } from "../Failure.ts"
import type { ProviderError, ProviderFault } from "../ProviderError.ts"
import { type HttpWork, makeHttpWork, withoutChat } from "../wire/HttpWork.ts"
import { listOf, objectOf, parseJson, textIn } from "../wire/Json.ts"
import type { Provider, WorkCall } from "../Provider.ts"
import { dayOf } from "../../domain/Day.ts"
import type { SearchResults, SearchWork } from "../../domain/Work.ts"
import { encodeSearch, refusalOf } from "./Search.ts"

/** Tavily's search, or a host with the same API. */
export interface TavilyOptions {
  readonly id: string
  /** The URL in front of `/search`, such as `https://api.tavily.com`. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string>
}

/** A page of text takes a few kilobytes, and there are at most twenty. */
const MAX_BODY_BYTES = 4 * 1024 * 1024

/** The adapter, on the outbound pool. Each query is a call of its own, all in parallel. When one fails, the whole search fails. */
export const makeTavily = ({ apiKey, baseUrl, id }: TavilyOptions): Effect.Effect<Provider, never, Outbound> => {
  const headers = { authorization: `Bearer ${Redacted.value(apiKey)}` }
  const target = targetOf(`${baseUrl.replace(/\/+$/, "")}/search`)
  return Effect.map(makeHttpWork({ id, apiKey, headers, faultOfStatus }), (work) => ({
    id,
    stopsBillingOnAbort: false,
    ...withoutChat(id),
    search: (call, asked) => {
      const refusal = refusalOf(asked)
      if (refusal !== undefined) return Effect.fail(work.error(refusal))
      return Effect.forEach(asked.queries, (query, index) => ask(work, target, call, asked, query, index), {
        concurrency: "unbounded"
      }).pipe(Effect.map((found) => ({ results: found.flat() })))
    }
  }))
}

const ask = Effect.fnUntraced(function* (
  { error, post }: HttpWork,
  target: ReturnType<typeof targetOf>,
  call: WorkCall,
  search: SearchWork,
  query: string,
  queryIndex: number
): Effect.fn.Return<SearchResults["results"], ProviderError> {
  const depth = call.candidate.offer.upstreamId === "advanced" ? "advanced" : "basic"
  const body = JSON.stringify(encodeSearch(query, depth, search, yield* Clock.currentTimeMillis))
  const answer = yield* post(call, { target, accept: "application/json", body, maxBodyBytes: MAX_BODY_BYTES })
  const results = objectOf(parseJson(answer))?.["results"]
  if (!Array.isArray(results)) return yield* error({ _tag: "Malformed", detail: "an answer without results" })
  return results.flatMap((result) => resultOf(result, queryIndex)).slice(0, search.maxResults)
})

/** A page without a URL is dropped. */
const resultOf = (value: unknown, queryIndex: number): SearchResults["results"] => {
  const result = objectOf(value)
  const url = result && textIn(result, "url")
  if (result === undefined || url === undefined) return []
  const published = Date.parse(textIn(result, "published_date") ?? "")
  return [
    {
      title: textIn(result, "title") ?? url,
      url,
      snippet: textIn(result, "content") ?? "",
      ...(Number.isNaN(published) ? {} : { date: dayOf(published) }),
      queryIndex
    }
  ]
}

/** Interprets a response without a success status. 432 and 433 mean that the gateway's plan or budget at Tavily is used up. */
const faultOfStatus = ({ body, headers, status }: RefusedAnswer, nowMs: number): ProviderFault => {
  const meant = status === 432 || status === 433 ? 402 : status
  return faultOf(meant, detailOf(parseJson(body)) ?? `status ${status}`, retryAfterSeconds(headers, nowMs))
}

const detailOf = (body: unknown): string | undefined => {
  const detail = objectOf(body)?.["detail"]
  if (typeof detail === "string") return detail
  const [first] = listOf(detail)
  const object = objectOf(first ?? detail)
  return object && (textIn(object, "error") ?? textIn(object, "msg"))
}
