import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { type McpCall, mcpCall, PresentCall } from "../../src/mcp/McpCall.ts"

describe("mcpCall", () => {
  it.effect("returns the current call of a tool, and dies outside of one", () =>
    Effect.gen(function* () {
      const call = { headers: { accept: "application/json" } } as unknown as McpCall
      assert.strictEqual(yield* Effect.provideService(mcpCall, PresentCall, call), call)
      assert.isTrue(Exit.hasDies(yield* Effect.exit(mcpCall)))
    })
  )
})
