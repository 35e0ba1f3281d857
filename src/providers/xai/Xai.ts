import { Effect, Redacted } from "effect"
import type { Outbound } from "../../platform/outbound/Outbound.ts"
import type { PublicFetch } from "../../platform/outbound/PublicFetch.ts"
import { faultOf, type RefusedAnswer } from "../Failure.ts"
import type { ProviderFault } from "../ProviderError.ts"
import { makeHttpWork } from "../wire/HttpWork.ts"
import type { Effort } from "../openai/Effort.ts"
import { faultOfStatus } from "../openai/Failure.ts"
import { makeOpenAi } from "../openai/OpenAi.ts"
import type { Provider } from "../Provider.ts"
import { makeXaiVideo } from "./XaiVideo.ts"

export interface XaiOptions {
  readonly id: string
  /** The URL in front of `/chat/completions` and `/videos/generations`, such as `https://api.x.ai/v1`. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string>
}

/**
 * xAI's chat, which has OpenAI's format, and its videos, on the outbound pool. xAI does not document that closing the connection stops
 * the bill.
 */
export const makeXai = ({ apiKey, baseUrl, id }: XaiOptions): Effect.Effect<Provider, never, Outbound | PublicFetch> =>
  Effect.gen(function* () {
    const base = baseUrl.replace(/\/+$/, "")
    const { chat, chatStream } = yield* makeOpenAi({
      id,
      baseUrl: base,
      apiKey,
      flavour: "compatible",
      efforts: effortsOfXai,
      stopsBillingOnAbort: false,
      faultOfStatus: faultOfXai
    })
    const headers = { authorization: `Bearer ${Redacted.value(apiKey)}` }
    const work = yield* makeHttpWork({ id, apiKey, headers, faultOfStatus: faultOfXai })
    return { id, stopsBillingOnAbort: false, chat, chatStream, ...(yield* makeXaiVideo(work, base)) }
  })

/**
 * Grok 4, 4.20 and the coding models always reason and reject an effort; 4.3 can turn it off
 * (https://docs.x.ai/developers/model-capabilities/text/reasoning).
 */
const effortsOfXai = (upstreamId: string): ReadonlyArray<Effort> => {
  if (/^grok-(?:code|4\.20(?!-multi)|4(?![.\d]))/.test(upstreamId)) return []
  return upstreamId.startsWith("grok-4.3") ? ["none", "low", "medium", "high"] : ["low", "medium", "high"]
}

/**
 * xAI answers a wrong key as a bad request, which is not the caller's fault. Only the start of the message is matched, because the rest
 * may quote the caller.
 */
const faultOfXai = (answer: RefusedAnswer, nowMs: number): ProviderFault => {
  const fault = faultOfStatus(answer, nowMs)
  return fault._tag === "Refused" && /^incorrect api key/i.test(fault.detail) ? faultOf(401, "", undefined) : fault
}
