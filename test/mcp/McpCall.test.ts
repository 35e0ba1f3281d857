import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { type McpCall, mcpCall, PresentCall } from "../../src/mcp/McpCall.ts"

describe("the call of a tool", () => {
  it.effect("is known to what runs in it, and a defect outside of one", () =>
    Effect.gen(function* () {
      const call = { headers: { accept: "application/json" } } as unknown as McpCall
      assert.strictEqual(yield* Effect.provideService(mcpCall, PresentCall, call), call)
      assert.isTrue(Exit.hasDies(yield* Effect.exit(mcpCall)))
    })
  )
})
