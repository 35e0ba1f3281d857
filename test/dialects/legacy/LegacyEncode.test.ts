import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { LegacyChatCompletion } from "../../../schemas/inference/LegacyChat.ts"
import { encodeCompletion } from "../../../src/dialects/chat/ChatEncode.ts"
import { encodeLegacyChat } from "../../../src/dialects/legacy/LegacyEncode.ts"
import { answerWith } from "../chat/answer.ts"

const check = Schema.decodeUnknownSync(LegacyChatCompletion, { onExcessProperty: "error" })

it("a legacy answer is a chat completion with `cached`", () => {
  const answer = answerWith({ text: "Hello!", finish: "stop" })
  for (const cached of [true, false]) {
    const body = check(JSON.parse(JSON.stringify(encodeLegacyChat(answer, cached))))
    assert.deepStrictEqual(body, { ...encodeCompletion(answer), cached })
  }
})
