/** The legacy chat request, decoded as the chat completion request it is a part of. */
import { Result } from "effect"
import { LegacyChatRequest } from "../../../schemas/inference/LegacyChat.ts"
import type { PresetConfig } from "../../../schemas/management/Presets.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import type { RoutingPolicy } from "../../domain/Plan.ts"
import type { OpenReasoning } from "../../domain/Reasoning.ts"
import { type DecodedChat, decodeChat } from "../chat/ChatDecode.ts"
import { decoder, objectOf } from "../Decode.ts"

const decodeWire = decoder(LegacyChatRequest, { strict: true })

type WireMessage = LegacyChatRequest["messages"][number]

/** A message as a session records it: without reasoning. */
const saidOf = (message: WireMessage): WireMessage =>
  message.role === "assistant" ? { role: message.role, content: message.content } : message

export interface DecodedLegacyChat extends DecodedChat {
  /** The session that the request names, and its messages as they are recorded there. */
  readonly sessionId: string | undefined
  readonly said: LegacyChatRequest["messages"]
}

/**
 * Decodes a request body, filled up from a preset where there is one, and routed by `base` where neither says how. Any member that
 * is not its own is refused by name.
 */
export const decodeLegacyChat = (
  body: unknown,
  preset?: PresetConfig,
  base?: RoutingPolicy,
  open?: OpenReasoning
): Result.Result<DecodedLegacyChat, Failure> => {
  const object = objectOf(body)
  if (object === undefined) return Result.fail(invalid("body", "Expected a JSON object"))
  return Result.gen(function* () {
    const { messages, session_id } = yield* decodeWire(object)
    const decoded = yield* decodeChat(object, preset && { config: preset, byPath: false }, base, open)
    return {
      ...decoded,
      // It has its effect here, whatever it means to a router.
      ignored: decoded.ignored.filter((name) => name !== "session_id"),
      sessionId: session_id ?? undefined,
      said: messages.map(saidOf)
    }
  })
}
