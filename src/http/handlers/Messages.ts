import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller } from "../../../schemas/Access.ts"
import { Catalogue } from "../../catalogue/Catalogue.ts"
import { modelFieldsOf } from "../../dialects/Decode.ts"
import { decodeCount, type DecodedMessages, decodeMessages } from "../../dialects/messages/MessagesDecode.ts"
import { encodeMessage } from "../../dialects/messages/MessagesEncode.ts"
import { MessagesStreamEncoder } from "../../dialects/messages/MessagesStream.ts"
import { messagesNames } from "../../dialects/RefusedMember.ts"
import { likelyTokens, promptBound } from "../../domain/TokenBound.ts"
import { countPrompt } from "../../domain/Tokens.ts"
import { ReasoningSeals } from "../../inference/ReasoningSeals.ts"
import { Config } from "../../platform/config/Config.ts"
import { Presets } from "../../presets/Presets.ts"
import { readJson } from "../edge/Body.ts"
import { calledBy, type ChatDialect, chatOperation, knownModels, withinMessages } from "./ChatOperation.ts"
import { Exchange } from "../edge/Exchange.ts"
import { takePreset } from "./Preset.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

/** `POST /messages`. */
export const messagesDialect: ChatDialect<DecodedMessages> = {
  decode: (body, preset, _, base, open) => decodeMessages(body, preset?.config, base, open),
  names: messagesNames,
  encode: (answer, { editsContext, showsThinking }) => encodeMessage(answer, showsThinking, editsContext),
  encoder: (opening, { conversation, editsContext, showsThinking }) =>
    new MessagesStreamEncoder({
      ...opening,
      inputTokens: likelyTokens(promptBound(conversation).most),
      showsThinking,
      editsContext
    }),
  withHeaders: (decoded, headers) => {
    const betas = betasOf(headers["anthropic-beta"])
    return betas.length === 0 ? decoded : { ...decoded, conversation: { ...decoded.conversation, betas } }
  }
}

const BETAS_MAX = 32

/** The well-formed values of `anthropic-beta`. Anything else is not passed to a provider. */
const betasOf = (header: string | undefined): ReadonlyArray<string> =>
  (header ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => /^[A-Za-z0-9_.-]{1,128}$/.test(name))
    .slice(0, BETAS_MAX)

const place = { operation: "messages", path: "/messages" }

const counting = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  const presets = yield* Presets
  const { maxMessages } = yield* Config
  const seals = yield* ReasoningSeals
  return Effect.fnUntraced(function* (request: ApiRequest) {
    const { accountId } = yield* Caller
    const body = yield* readJson(request)
    const sent = modelFieldsOf(body)
    const preset = yield* takePreset(presets, yield* Exchange, { accountId, sent })
    const open = seals.openFor(accountId)
    const { conversation, model, models } = yield* Effect.fromResult(
      withinMessages(body, { maxMessages }, () => decodeCount(body, preset?.config, open))
    )
    yield* Effect.fromResult(knownModels(catalogue.current(), sent, { model, models }))
    return HttpServerResponse.jsonUnsafe({ input_tokens: countPrompt(conversation) })
  })
})

/** `POST /messages` and `POST /messages/count_tokens`. */
export const messagesHandlers = Effect.gen(function* () {
  const messages = yield* chatOperation(messagesDialect)
  const countTokens = yield* counting
  return operations("messages", {
    messages: (call) => Effect.flatMap(calledBy(call), (called) => messages(called, place)),
    countTokens: ({ request }) => countTokens(request)
  })
})
