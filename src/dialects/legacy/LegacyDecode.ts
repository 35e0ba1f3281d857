/** The legacy chat request, decoded as the chat completion request it is a part of. */
import { Result } from "effect"
import { LegacyChatRequest } from "../../../schemas/inference/LegacyChat.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { type DecodedChat, decodeChat } from "../chat/ChatDecode.ts"
import { decoder, objectOf } from "../Decode.ts"

const decodeWire = decoder(LegacyChatRequest, { strict: true })

/** A decoded request. */
export interface DecodedLegacyChat extends DecodedChat {
  /** The model as the caller named it. */
  readonly named: string
}

/** Decodes a request body. Any member that is not its own is refused by name. */
export const decodeLegacyChat = (body: unknown): Result.Result<DecodedLegacyChat, Failure> => {
  const object = objectOf(body)
  if (object === undefined) return Result.fail(invalid("body", "Expected a JSON object"))
  return Result.flatMap(decodeWire(object), ({ model }) =>
    Result.map(decodeChat(object), (decoded) => ({ ...decoded, named: model }))
  )
}
