/** Decodes the legacy chat request, which is a subset of the chat completion request. */
import { Result } from "effect"
import { LegacyChatRequest } from "../../../schemas/inference/LegacyChat.ts"
import type { PresetConfig } from "../../../schemas/management/Presets.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { NOT_AN_OBJECT } from "../../domain/SchemaProblems.ts"
import type { RoutingPolicy } from "../../domain/Plan.ts"
import type { OpenReasoning } from "../../domain/Reasoning.ts"
import { type DecodedChat, decodeChat } from "../chat/ChatDecode.ts"
import { decoder, objectOf } from "../Decode.ts"

const decodeWire = decoder(LegacyChatRequest, { strict: true })

type WireMessage = LegacyChatRequest["messages"][number]

/** A message in the form that a session records: without reasoning. */
const recordedFormOf = (message: WireMessage): WireMessage =>
  message.role === "assistant" ? { role: message.role, content: message.content } : message

export interface DecodedLegacyChat extends DecodedChat {
  /** The session that the request names, and its messages in the recorded form. */
  readonly sessionId: string | undefined
  readonly recordedMessages: LegacyChatRequest["messages"]
}

/**
 * Decodes a request body with the fields of a preset filled in. `base` is the routing when neither says. Unknown fields are rejected by
 * name.
 */
export const decodeLegacyChat = (
  body: unknown,
  preset?: PresetConfig,
  base?: RoutingPolicy,
  open?: OpenReasoning
): Result.Result<DecodedLegacyChat, Failure> => {
  const object = objectOf(body)
  if (object === undefined) return Result.fail(invalid("body", NOT_AN_OBJECT))
  return Result.gen(function* () {
    const { messages, session_id } = yield* decodeWire(object)
    const decoded = yield* decodeChat(object, preset && { config: preset, byPath: false }, base, open)
    return {
      ...decoded,
      // `session_id` has an effect here, even if a router ignores it.
      ignored: decoded.ignored.filter((name) => name !== "session_id"),
      sessionId: session_id ?? undefined,
      recordedMessages: messages.map(recordedFormOf)
    }
  })
}
