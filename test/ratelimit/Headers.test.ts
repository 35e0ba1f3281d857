import { assert, it } from "@effect/vitest"
import { headers } from "../../src/ratelimit/Headers.ts"
import { verdictOf } from "../../src/ratelimit/Store.ts"

it("an admitted request gets the state of its window in both families of headers", () => {
  assert.deepStrictEqual(headers(verdictOf("default", true, 60, 1, 41_001)), {
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "59",
    "x-ratelimit-reset": "42",
    "ratelimit-policy": '"default";q=60;w=60',
    ratelimit: '"default";r=59;t=42'
  })
})

it("a refused request gets retry-after, which does not end before the window", () => {
  assert.deepStrictEqual(headers(verdictOf("video", false, 2, 2, 1)), {
    "x-ratelimit-limit": "2",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "1",
    "ratelimit-policy": '"video";q=2;w=60',
    ratelimit: '"video";r=0;t=1',
    "retry-after": "1",
    "x-should-retry": "true"
  })
})

it("a limit lowered below the requests already counted leaves 0 remaining, not less", () => {
  assert.strictEqual(headers(verdictOf("chat", false, 6, 60, 60_000))["x-ratelimit-remaining"], "0")
})
