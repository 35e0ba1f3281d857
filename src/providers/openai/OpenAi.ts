import { type Effect, Redacted } from "effect"
import { type Outbound, targetOf } from "../../platform/Outbound.ts"
import { makeHttpChat } from "../HttpChat.ts"
import type { Provider } from "../Provider.ts"
import { decodeChat } from "./ChatDecode.ts"
import { type ChatWireOptions, encodeChat } from "./ChatEncode.ts"
import { ChatStreamFold } from "./ChatStream.ts"
import { faultOfStatus } from "./Failure.ts"

/** A host that speaks OpenAI's chat completions. */
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

/** The adapter of one such host, over the outbound pool. */
export const makeOpenAi = (options: OpenAiOptions): Effect.Effect<Provider, never, Outbound> => {
  const { apiKey, baseUrl, headers, id, stopsBillingOnAbort } = options
  const target = targetOf(`${baseUrl.replace(/\/+$/, "")}/chat/completions`)
  return makeHttpChat({
    id,
    stopsBillingOnAbort,
    apiKey,
    wire: {
      target: () => target,
      headers: {
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${Redacted.value(apiKey)}` }),
        ...headers
      },
      encode: (call, stream) => encodeChat(call, stream, options),
      decode: decodeChat,
      fold: (requestId) => new ChatStreamFold(requestId),
      faultOfStatus
    }
  })
}
