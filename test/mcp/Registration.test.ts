import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { callOf, openSession, send, sessionClient } from "../support/Mcp.ts"
import { json, startService } from "../support/Service.ts"

describe("registered tools", () => {
  it.live("have descriptions and hints for a client that chooses or confirms them", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account()
      const client = yield* sessionClient(origin, inferenceKey)
      const { tools } = yield* Effect.promise(() => client.listTools())
      for (const { annotations, description = "", inputSchema, name, outputSchema, title } of tools) {
        assert.isNotEmpty(title, name)
        assert.isAbove(description.length, 40, name)
        assert.strictEqual(inputSchema.type, "object", name)
        assert.strictEqual(outputSchema?.type, "object", name)
        assert.isFalse(annotations?.destructiveHint, name)
        const pays = inputSchema.properties?.["max_cost_usd"] !== undefined
        assert.strictEqual(annotations?.readOnlyHint, !pays, name)
        assert.strictEqual(annotations?.idempotentHint, !pays, name)
        for (const [member, schema] of Object.entries(inputSchema.properties ?? {})) {
          assert.property(schema, "description", `${name}.${member}`)
        }
      }
    }).pipe(Effect.scoped)
  )

  it.live("give each call in a batch its own request id", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account()
      const headers = { "mcp-session-id": yield* openSession(origin, inferenceKey, "2025-03-26") }
      const wrong = [callOf("get_model", { id: "a" }, 1), callOf("get_model", { id: "b" }, 2)]
      const answers = yield* json(yield* send(origin, inferenceKey, wrong, headers))
      const ids = answers.map(({ result }: { readonly result: { readonly _meta: object } }) => result._meta)
      assert.lengthOf(answers, 2)
      assert.notDeepEqual(ids[0], ids[1])
    }).pipe(Effect.scoped)
  )

  it.live("reject the name of an unknown tool", () =>
    Effect.gen(function* () {
      const { account, origin } = yield* startService()
      const { inferenceKey } = yield* account()
      const headers = { "mcp-session-id": yield* openSession(origin, inferenceKey) }
      const unknown = yield* json(yield* send(origin, inferenceKey, callOf("no_such_tool", {}), headers))
      assert.strictEqual(unknown.error.code, -32_602)
    }).pipe(Effect.scoped)
  )
})
