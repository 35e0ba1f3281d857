/** Rate limits are exact across nodes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { limits } from "../../src/ratelimit/Limits.ts"
import { missing, startTopology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { chat, tally } from "./Callers.ts"

announceSkip("rate limits of several nodes", missing)

describe.skipIf(missing !== undefined)("three nodes behind HAProxy with one Redis", () => {
  it.live("admit exactly one window's number of concurrent requests, whichever nodes get them", () =>
    Effect.gen(function* () {
      const { nodes, open, origin } = yield* startTopology({ settings: { RATE_LIMIT_SCALE: "1" } })
      const limit = limits.chat.requests
      for (let turn = 0; turn < 3; turn++) {
        const { key } = yield* open()
        const outcomes = yield* Effect.all(
          Array.from({ length: 3 * limit }, () => chat(origin, { key })),
          { concurrency: 60 }
        )
        assert.deepStrictEqual(tally(outcomes), { served: limit, "429 rate_limit_exceeded": 2 * limit })
        const served = new Set(outcomes.filter(({ isComplete }) => isComplete).map(({ headers }) => headers["x-node"]))
        assert.strictEqual(served.size, nodes.length)
        for (const { headers, isComplete } of outcomes) {
          if (!isComplete) assert.match(headers["retry-after"] ?? "", /^[1-9]\d?$/)
        }
      }
    }).pipe(Effect.scoped)
  )
})
