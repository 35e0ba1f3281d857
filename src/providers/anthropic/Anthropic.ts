import { Effect, Redacted } from "effect"
import type { Outbound } from "../../platform/outbound/Outbound.ts"
import { targetOf } from "../../platform/outbound/OutboundCall.ts"
import { makeHttpChat } from "../wire/HttpChat.ts"
import type { Provider } from "../Provider.ts"
import { ANTHROPIC_NAMES, withToolNames } from "../wire/ToolNames.ts"
import { decodeChat } from "./ChatDecode.ts"
import { betasOf, encodeChat } from "./ChatEncode.ts"
import { chatStreamFold } from "./ChatStream.ts"
import { faultOfStatus } from "./Failure.ts"

/** A host with Anthropic's Messages API. */
export interface AnthropicOptions {
  readonly id: string
  /** The URL in front of `/v1/messages`, such as `https://api.anthropic.com`. A trailing `/v1` is accepted. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string>
  readonly stopsBillingOnAbort: boolean
  /** Additional headers of every call, such as `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The adapter of one such host, on the outbound pool. */
export const makeAnthropic = (options: AnthropicOptions): Effect.Effect<Provider, never, Outbound> =>
  Effect.map(chatOf(options), (provider) => ({ ...provider, editsContext: true }))

const chatOf = (options: AnthropicOptions): Effect.Effect<Provider, never, Outbound> => {
  const { apiKey, baseUrl, headers, id, stopsBillingOnAbort } = options
  const own = headers?.["anthropic-beta"]
  const target = targetOf(`${baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1/messages`)
  const chat = makeHttpChat({
    id,
    stopsBillingOnAbort,
    apiKey,
    wire: {
      target: () => target,
      headers: { "x-api-key": Redacted.value(apiKey), "anthropic-version": "2023-06-01", ...headers },
      headersOf: ({ conversation }) => {
        const betas = betasOf(conversation)
        if (betas.length === 0) return undefined
        return { "anthropic-beta": [...new Set([...(own === undefined ? [] : [own]), ...betas])].join(",") }
      },
      encode: encodeChat,
      decode: decodeChat,
      fold: (requestId) => chatStreamFold(requestId),
      faultOfStatus
    }
  })
  return Effect.map(chat, (provider) => withToolNames(provider, ANTHROPIC_NAMES))
}
