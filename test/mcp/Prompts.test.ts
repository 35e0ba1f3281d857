import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { openSession, send, sessionClient } from "../support/Mcp.ts"
import { json, startService } from "../support/Service.ts"

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

  it.live("name an argument that is missing or wrong, with the envelope", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account()
      const headers = { "mcp-session-id": yield* openSession(origin, inferenceKey) }
      const refused = (params: object) =>
        Effect.gen(function* () {
          const message = { jsonrpc: "2.0", id: 1, method: "prompts/get", params }
          const { error } = yield* Effect.flatMap(send(origin, inferenceKey, message, headers), json)
          assert.strictEqual(error.data.error.message, error.message)
          return [error.code, error.data.error.param, error.message]
        })
      assert.deepStrictEqual(yield* refused({ name: "second_opinion" }), [
        -32_602,
        "question",
        "`question` is required."
      ])
      assert.deepStrictEqual(yield* refused({ name: "spending_report", arguments: { period: "2d" } }), [
        -32_602,
        "period",
        '`period` must be one of 1d, 7d, 30d; got "2d".'
      ])
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
