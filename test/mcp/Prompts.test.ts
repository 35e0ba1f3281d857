import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { sessionClient } from "../support/Mcp.ts"
import { startService } from "../support/Service.ts"

describe("prompts", () => {
  it.live("are listed with their arguments, and filled in", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account()
      const client = yield* sessionClient(origin, inferenceKey)
      const { prompts } = yield* Effect.promise(() => client.listPrompts())
      assert.deepStrictEqual(
        prompts.map(({ arguments: args, name }) => [name, args?.map((one) => [one.name, one.required])]),
        [
          [
            "second_opinion",
            [
              ["question", true],
              ["model", false]
            ]
          ],
          ["spending_report", [["period", false]]]
        ]
      )
      const { messages } = yield* Effect.promise(() =>
        client.getPrompt({ name: "second_opinion", arguments: { question: "Why is the sky blue?" } })
      )
      const content = messages[0]?.content as { readonly text: string }
      assert.include(content.text, "Why is the sky blue?")
      assert.include(content.text, "svc/auto")
    }).pipe(Effect.scoped)
  )

  it.live("suggest callable models", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account()
      const client = yield* sessionClient(origin, inferenceKey)
      const { completion } = yield* Effect.promise(() =>
        client.complete({
          ref: { type: "ref/prompt", name: "second_opinion" },
          argument: { name: "model", value: "gpt-4o-m" }
        })
      )
      assert.deepStrictEqual(completion.values, ["gpt-4o-mini"])
    }).pipe(Effect.scoped)
  )
})
