import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { decodeCount, type DecodedMessages, decodeMessages } from "../../dialects/messages/MessagesDecode.ts"
import { encodeMessage } from "../../dialects/messages/MessagesEncode.ts"
import { MessagesStreamEncoder } from "../../dialects/messages/MessagesStream.ts"
import { messagesNames } from "../../dialects/RefusedMember.ts"
import { likelyTokens, promptBound } from "../../domain/TokenBound.ts"
import { withCaller, type ChatDialect, chatOperation, countOperation } from "./ChatOperation.ts"
import { operations } from "../edge/Operations.ts"

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

/** `POST /messages` and `POST /messages/count_tokens`. */
export const messagesHandlers = Effect.gen(function* () {
  const messages = yield* chatOperation(messagesDialect)
  const countTokens = yield* countOperation({ decode: decodeCount, modelless: false })
  return operations("messages", {
    messages: (call) => Effect.flatMap(withCaller(call), (called) => messages(called, place)),
    countTokens: ({ request }) =>
      Effect.map(countTokens(request), ({ tokens }) => HttpServerResponse.jsonUnsafe({ input_tokens: tokens }))
  })
})
