import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller } from "../../../schemas/Access.ts"
import type { CreditsReport, Generation } from "../../../schemas/account/OpenRouter.ts"
import type { RequestReceipt } from "../../../schemas/account/Requests.ts"
import { failure } from "../../domain/Failure.ts"
import { usdFromNano } from "../../domain/Money.ts"
import { Requests } from "../../usage/Requests.ts"
import { Usage } from "../../usage/Usage.ts"
import { receiptOf } from "./Requests.ts"
import { operations } from "../edge/Operations.ts"

type Data = Generation["data"]

/** The end of every id that an answer has. */
const ULID = /^(?:req_|chatcmpl-|msg_|resp_)?([0-9A-HJKMNP-TV-Z]{26})$/

/** OpenRouter's names of the operations, without the `mcp.` of a tool and the prefix of a preset. */
const apiTypes: ReadonlyArray<readonly [RegExp, NonNullable<Data["api_type"]>]> = [
  [/chat|messages|responses/, "completions"],
  [/embed/, "embeddings"],
  [/rerank/, "rerank"],
  [/video/, "video"],
  [/speech|speak/, "tts"],
  [/image/, "image"]
]

const tokensOf = (usage: RequestReceipt["usage"]) => {
  if (usage === null || "units" in usage) return { prompt: null, completion: null, cached: null, reasoning: null }
  return {
    prompt: usage.input_tokens + usage.cached_tokens + usage.cache_creation_tokens,
    completion: usage.output_tokens,
    cached: usage.cached_tokens,
    reasoning: usage.reasoning_tokens
  }
}

const absent = {
  native_tokens_completion_images: null,
  cache_discount: null,
  upstream_inference_cost: null,
  upstream_id: null,
  app_id: null,
  external_user: null,
  http_referer: null,
  user_agent: null,
  moderation_latency: null,
  num_fetches: null,
  num_input_audio_prompt: null,
  num_media_completion: null,
  num_media_prompt: null,
  num_search_results: null,
  service_tier: null,
  web_search_engine: null,
  workspace_id: null
} as const

/** A receipt in OpenRouter's form, under the id that its client knows. */
const generationOf = (receipt: RequestReceipt, id: string): Data => {
  const { prompt, completion, cached, reasoning } = tokensOf(receipt.usage)
  const { first_token_ms: firstTokenMs, total_ms: totalMs } = receipt.timings
  return {
    id,
    request_id: receipt.id,
    created_at: new Date(receipt.created_at * 1_000).toISOString(),
    model: receipt.resolved_model ?? receipt.model,
    provider_name: receipt.provider,
    provider_responses:
      receipt.routing?.provider_attempts?.map(({ outcome, provider }) => ({
        provider_name: provider,
        status: outcome === "served" ? 200 : null
      })) ?? null,
    api_type: apiTypes.find(([pattern]) => pattern.test(receipt.operation))?.[1] ?? null,
    streamed: receipt.streamed,
    cancelled: receipt.status === "cancelled",
    finish_reason: receipt.finish_reason,
    native_finish_reason: receipt.finish_reason,
    tokens_prompt: prompt,
    tokens_completion: completion,
    native_tokens_prompt: prompt,
    native_tokens_completion: completion,
    native_tokens_cached: cached,
    native_tokens_reasoning: reasoning,
    total_cost: receipt.cost_usd,
    usage: receipt.cost_usd,
    latency: firstTokenMs ?? totalMs,
    generation_time: totalMs,
    router: receipt.model === "svc/auto" ? receipt.model : null,
    preset_id: receipt.preset ?? null,
    is_byok: false,
    data_region: "global",
    origin: "",
    ...absent
  }
}

/** `GET /credits` and `GET /generation`. */
export const openrouterHandlers = Effect.gen(function* () {
  const [requests, usage] = [yield* Requests, yield* Usage]
  return operations("openrouter", {
    getCredits: Effect.fnUntraced(function* () {
      const { accountId } = yield* Caller
      const { posted, used } = yield* usage.credits(accountId)
      const data = { total_credits: usdFromNano(posted + used), total_usage: usdFromNano(used) }
      return HttpServerResponse.jsonUnsafe({ data } satisfies CreditsReport)
    }),
    getGeneration: Effect.fnUntraced(function* ({ query: { id } }) {
      const { accountId } = yield* Caller
      const ulid = ULID.exec(id)?.[1]
      const requestId = `req_${ulid}`
      const found = ulid === undefined ? undefined : yield* requests.find(accountId, requestId)
      const row = found ?? (ulid === undefined ? undefined : yield* requests.findReplayed(accountId, requestId))
      if (row === undefined) return yield* failure({ _tag: "NotFound", what: "generation", id })
      return HttpServerResponse.jsonUnsafe({ data: generationOf(receiptOf(row), id) } satisfies Generation)
    })
  })
})
