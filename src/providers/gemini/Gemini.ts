import { Effect, Redacted } from "effect"
import type { Outbound } from "../../platform/outbound/Outbound.ts"
import { targetOf } from "../../platform/outbound/OutboundCall.ts"
import { makeHttpChat } from "../wire/HttpChat.ts"
import { makeHttpWork } from "../wire/HttpWork.ts"
import type { Provider } from "../Provider.ts"
import { GEMINI_NAMES, withToolNames } from "../wire/ToolNames.ts"
import { decodeChat } from "./ChatDecode.ts"
import { encodeChat } from "./ChatEncode.ts"
import { chatStreamFold } from "./ChatStream.ts"
import { makeImages } from "./Images.ts"
import { faultOfStatus } from "./Failure.ts"

/** A host with Google's Gemini API. */
export interface GeminiOptions {
  readonly id: string
  /** The URL in front of `/v1beta`, such as `https://generativelanguage.googleapis.com`. One that already ends in it is accepted. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string>
  readonly stopsBillingOnAbort: boolean
  /** Additional headers of every call. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The adapter of one such host, on the outbound pool. */
export const makeGemini = (options: GeminiOptions): Effect.Effect<Provider, never, Outbound> => {
  const { apiKey, baseUrl, headers, id, stopsBillingOnAbort } = options
  const { origin, path } = targetOf(baseUrl)
  const models = `${path.replace(/\/+$/, "").replace(/\/v1beta$/, "")}/v1beta/models`
  const credential = { "x-goog-api-key": Redacted.value(apiKey), ...headers }
  const chat = makeHttpChat({
    id,
    stopsBillingOnAbort,
    apiKey,
    wire: {
      target: ({ candidate }, stream) => {
        const model = encodeURIComponent(candidate.offer.upstreamId)
        return { origin, path: `${models}/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}` }
      },
      headers: credential,
      encode: encodeChat,
      decode: decodeChat,
      fold: (requestId) => chatStreamFold(requestId),
      faultOfStatus
    }
  })
  return Effect.gen(function* () {
    const work = yield* makeHttpWork({ id, apiKey, headers: credential, faultOfStatus })
    return withToolNames({ ...(yield* chat), makeImages: makeImages(work, { origin, models }) }, GEMINI_NAMES)
  })
}
