import { Effect, Redacted, Result } from "effect"
import type { Outbound } from "../../platform/outbound/Outbound.ts"
import { targetOf } from "../../platform/outbound/OutboundCall.ts"
import type { HostWire } from "../../platform/config/ProvidersFile.ts"
import { type ChatWire, makeHttpChat } from "../wire/HttpChat.ts"
import { httpEmbed } from "../wire/HttpEmbed.ts"
import { makeHttpWork } from "../wire/HttpWork.ts"
import type { ChatCall, Provider } from "../Provider.ts"
import { OPENAI_NAMES, withToolNames } from "../wire/ToolNames.ts"
import { decodeChat, type ReadOptions } from "./ChatDecode.ts"
import { encodeChat } from "./ChatEncode.ts"
import { type ChatWireOptions, NO_TRAITS, traitsOfHost } from "./HostTraits.ts"
import { chatStreamFold } from "./ChatStream.ts"
import { makeImages } from "./Images.ts"
import { encodeEmbeddings } from "./EmbedEncode.ts"
import { faultOfStatus } from "./Failure.ts"
import { decodeResponse } from "./ResponsesDecode.ts"
import { encodeResponse, reasonsBesideTools } from "./ResponsesEncode.ts"
import { responsesFold } from "./ResponsesStream.ts"
import { makeSpeech } from "./Speech.ts"
import { usualTags } from "./ThinkTags.ts"

/** A host with OpenAI's chat completions, embeddings, speech and images APIs, and the Responses API if it has OpenAI's own models. */
export interface OpenAiOptions extends ChatWireOptions {
  readonly id: string
  /**
   * The URL in front of `/chat/completions`, `/responses`, `/embeddings`, `/audio/speech` and `/images`, such as
   * `https://api.openai.com/v1`.
   */
  readonly baseUrl: string
  /** Undefined for an operator's own host without a key. */
  readonly apiKey: Redacted.Redacted<string> | undefined
  readonly stopsBillingOnAbort: boolean
  /** Interprets a response without a success status, if the host differs from OpenAI. */
  readonly faultOfStatus?: typeof faultOfStatus
  /** Additional headers of every call, such as an organisation's id. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The header that carries the bare key, in place of `authorization`. */
  readonly keyHeader?: string | undefined
}

/** The adapter options for an entry of `PROVIDERS_FILE`. */
export const optionsOfHost = (wire: HostWire | undefined) =>
  ({
    flavour: wire?.kind === "azure" ? "openai" : "compatible",
    keyHeader: wire?.kind === "azure" ? "api-key" : undefined,
    headers: wire?.quirks.headers,
    traitsOf: wire === undefined ? undefined : traitsOfHost(wire)
  }) as const

const credentialOf = ({ apiKey, keyHeader }: OpenAiOptions): Readonly<Record<string, string>> => {
  if (apiKey === undefined) return {}
  const key = Redacted.value(apiKey)
  return keyHeader === undefined ? { authorization: `Bearer ${key}` } : { [keyHeader]: key }
}

/** How to read the answers of a call. OpenAI's own hosts put no reasoning into texts, unless the operator says otherwise. */
const readOptions = ({ candidate }: ChatCall, { flavour, traitsOf }: OpenAiOptions): ReadOptions => {
  const { reasoning_field: field, think_tags: told } = traitsOf?.(candidate) ?? NO_TRAITS
  const searched = told ?? flavour !== "openai"
  return {
    field,
    tags: searched === true ? usualTags(candidate.offer.upstreamId) : searched === false ? "none" : searched
  }
}

/** The adapter of one such host, on the outbound pool. */
export const makeOpenAi = (options: OpenAiOptions): Effect.Effect<Provider, never, Outbound> =>
  Effect.gen(function* () {
    const { apiKey, faultOfStatus: faultOf = faultOfStatus, id, stopsBillingOnAbort } = options
    const base = options.baseUrl.replace(/\/+$/, "")
    const targets = {
      chat: targetOf(`${base}/chat/completions`),
      responses: targetOf(`${base}/responses`),
      embeddings: targetOf(`${base}/embeddings`),
      speech: targetOf(`${base}/audio/speech`)
    }
    const headers = { ...credentialOf(options), ...options.headers }
    const headersOf = ({ candidate }: ChatCall) => options.traitsOf?.(candidate).headers
    const over = (wire: Pick<ChatWire, "target" | "encode" | "decode" | "fold">) =>
      makeHttpChat({ id, stopsBillingOnAbort, apiKey, wire: { ...wire, headers, headersOf, faultOfStatus: faultOf } })
    const completions = yield* over({
      target: () => targets.chat,
      encode: (call, stream) => encodeChat(call, stream, options),
      decode: (body, requestId, call) => decodeChat(body, requestId, readOptions(call, options)),
      fold: (requestId, call) => chatStreamFold(requestId, readOptions(call, options))
    })
    const responses = yield* over({
      target: () => targets.responses,
      encode: (call, stream) => encodeResponse(call, stream, options),
      decode: decodeResponse,
      fold: (requestId) => responsesFold(requestId)
    })
    const chatOf = (call: ChatCall) => (reasonsBesideTools(call, options) ? responses : completions)
    const work = yield* makeHttpWork({ id, apiKey, headers, faultOfStatus: faultOf })
    const embed = httpEmbed(work, targets.embeddings, (call, asked) => Result.succeed(encodeEmbeddings(call, asked)))
    const provider: Provider = {
      ...completions,
      chat: (call) => chatOf(call).chat(call),
      chatStream: (call) => chatOf(call).chatStream(call),
      embed,
      speak: makeSpeech(work, targets.speech),
      makeImages: makeImages(work, base, options)
    }
    return withToolNames(provider, OPENAI_NAMES)
  })
