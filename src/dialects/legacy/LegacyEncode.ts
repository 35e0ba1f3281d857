/** Encodes an answer of the legacy chat: a chat completion that says whether it was cached. */
import type { LegacyChatCompletion } from "../../../schemas/inference/LegacyChat.ts"
import type { Answer } from "../../domain/Answer.ts"
import { encodeCompletion } from "../chat/ChatEncode.ts"

/** The complete answer. */
export const encodeLegacyChat = (answer: Answer, cached: boolean): LegacyChatCompletion => ({
  ...encodeCompletion(answer),
  cached
})
