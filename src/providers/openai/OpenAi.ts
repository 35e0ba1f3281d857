import { Effect, Redacted, Result } from "effect"
import type { Outbound } from "../../platform/Outbound.ts"
import { targetOf } from "../../platform/OutboundCall.ts"
import { makeHttpChat } from "../HttpChat.ts"
import { httpEmbed } from "../HttpEmbed.ts"
import { makeHttpWork } from "../HttpWork.ts"
import type { Provider } from "../Provider.ts"
import { decodeChat } from "./ChatDecode.ts"
import { type ChatWireOptions, encodeChat } from "./ChatEncode.ts"
import { ChatStreamFold } from "./ChatStream.ts"
import { makeDraw } from "./Draw.ts"
import { encodeEmbeddings } from "./EmbedEncode.ts"
import { faultOfStatus } from "./Failure.ts"
import { makeSpeech } from "./Speech.ts"

/** A host that speaks OpenAI's chat completions, embeddings, speech and images. */
export interface OpenAiOptions extends ChatWireOptions {
  readonly id: string
  /** Everything before `/chat/completions`, `/embeddings`, `/audio/speech` and `/images`, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string
  /** Absent for hosts of one's own that ask for none. */
  readonly apiKey: Redacted.Redacted<string> | undefined
  readonly stopsBillingOnAbort: boolean
  /** What an answer other than a success means, where that is not what it means at OpenAI. */
  readonly faultOfStatus?: typeof faultOfStatus
  /** Sent with every call, such as an organisation's id. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The adapter of one such host, over the outbound pool. */
export const makeOpenAi = (options: OpenAiOptions): Effect.Effect<Provider, never, Outbound> =>
  Effect.gen(function* () {
    const { apiKey, faultOfStatus: faultOf = faultOfStatus, id, stopsBillingOnAbort } = options
    const base = options.baseUrl.replace(/\/+$/, "")
    const targets = {
      chat: targetOf(`${base}/chat/completions`),
      embeddings: targetOf(`${base}/embeddings`),
      speech: targetOf(`${base}/audio/speech`)
    }
    const headers = {
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${Redacted.value(apiKey)}` }),
      ...options.headers
    }
    const chat = yield* makeHttpChat({
      id,
      stopsBillingOnAbort,
      apiKey,
      wire: {
        target: () => targets.chat,
        headers,
        encode: (call, stream) => encodeChat(call, stream, options),
        decode: decodeChat,
        fold: (requestId) => new ChatStreamFold(requestId),
        faultOfStatus: faultOf
      }
    })
    const work = yield* makeHttpWork({ id, apiKey, headers, faultOfStatus: faultOf })
    const embed = httpEmbed(work, targets.embeddings, (call, asked) => Result.succeed(encodeEmbeddings(call, asked)))
    return { ...chat, embed, speak: makeSpeech(work, targets.speech), draw: makeDraw(work, base, options) }
  })
