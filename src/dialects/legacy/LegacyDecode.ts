/** The legacy chat request, decoded as the chat completion request it is a part of. */
import { Result } from "effect"
import { LegacyChatRequest } from "../../../schemas/inference/LegacyChat.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { type ChatWish, wishOf } from "../chat/ChatDecode.ts"
import { decoder, objectOf } from "../Decode.ts"

const decodeWire = decoder(LegacyChatRequest, { strict: true })

/** Decodes a request body. Any member that is not its own is refused by name. */
export const decodeLegacyChat = (body: unknown): Result.Result<ChatWish & { readonly model: string }, Failure> => {
  const object = objectOf(body)
  if (object === undefined) return Result.fail(invalid("body", "Expected a JSON object"))
  return Result.flatMap(decodeWire(object), (wire) =>
    Result.map(wishOf(object, wire, wire.messages), (wish) => ({ ...wish, model: wire.model }))
  )
}
