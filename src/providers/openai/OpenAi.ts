import { Effect, Redacted } from "effect"
import { type Outbound, targetOf } from "../../platform/Outbound.ts"
import { makeHttpChat } from "../HttpChat.ts"
import { makeHttpWork } from "../HttpWork.ts"
import type { Provider } from "../Provider.ts"
import { decodeChat } from "./ChatDecode.ts"
import { type ChatWireOptions, encodeChat } from "./ChatEncode.ts"
import { ChatStreamFold } from "./ChatStream.ts"
import { faultOfStatus } from "./Failure.ts"
import { openAiSpeech } from "./Speech.ts"

/** A host that speaks OpenAI's API. */
export interface OpenAiOptions extends ChatWireOptions {
  readonly id: string
  /** Everything before `/chat/completions`, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string
  /** Absent for hosts of one's own that ask for none. */
  readonly apiKey: Redacted.Redacted<string> | undefined
  readonly stopsBillingOnAbort: boolean
  /** Sent with every call, such as an organisation's id. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The adapter of one such host, over the outbound pool: its chat completions and its speech. */
export const makeOpenAi = (options: OpenAiOptions): Effect.Effect<Provider, never, Outbound> =>
  Effect.gen(function* () {
    const { apiKey, baseUrl, id, stopsBillingOnAbort } = options
    const target = targetOf(`${baseUrl.replace(/\/+$/, "")}/chat/completions`)
    const headers = {
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${Redacted.value(apiKey)}` }),
      ...options.headers
    }
    const chat = yield* makeHttpChat({
      id,
      stopsBillingOnAbort,
      apiKey,
      wire: {
        target: () => target,
        headers,
        encode: (call, stream) => encodeChat(call, stream, options),
        decode: decodeChat,
        fold: (requestId) => new ChatStreamFold(requestId),
        faultOfStatus
      }
    })
    const work = yield* makeHttpWork({ id, apiKey, headers, faultOfStatus })
    return { ...chat, speak: openAiSpeech(baseUrl, work) }
  })
