import { assert, describe, it } from "@effect/vitest"
import { chatNames, memberOf, messagesNames, responsesNames } from "../../src/dialects/RefusedMember.ts"

describe("memberOf", () => {
  const rows: ReadonlyArray<readonly [path: string, chat: string, messages: string, responses: string]> = [
    ["messages[2].content", "messages", "messages", "input"],
    ["contents[0].parts", "messages", "messages", "input"],
    ["messages.0.role", "messages", "messages", "input"],
    ["system", "messages", "system", "instructions"],
    ["max_completion_tokens", "max_tokens", "max_tokens", "max_output_tokens"],
    ["maxOutputTokens", "max_tokens", "max_tokens", "max_output_tokens"],
    ["stop_sequences", "stop", "stop_sequences", "stop"],
    ["tools.0.custom.input_schema", "tools", "tools", "tools"],
    ["tool_choice", "tool_choice", "tool_choice", "tool_choice"],
    ["thinking.budget_tokens", "reasoning", "thinking", "reasoning"],
    ["reasoning_effort", "reasoning", "thinking", "reasoning"],
    ["response_format.json_schema", "response_format", "output_config.format", "text.format"],
    ["topP", "top_p", "top_p", "top_p"],
    ["temperature", "temperature", "temperature", "temperature"]
  ]
  for (const [path, chat, messages, responses] of rows) {
    it(`maps ${path} to ${chat} in chat, ${messages} in messages and ${responses} in responses`, () => {
      assert.deepStrictEqual(
        [memberOf(path, chatNames), memberOf(path, messagesNames), memberOf(path, responsesNames)],
        [chat, messages, responses]
      )
    })
  }
})
