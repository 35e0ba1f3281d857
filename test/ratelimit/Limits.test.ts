import { assert, it } from "@effect/vitest"
import { isUnlimited, limits, requestsAt, subjectOf, windowOf } from "../../src/ratelimit/Limits.ts"

it("the limits are those that the API documents", () => {
  assert.deepStrictEqual(
    Object.entries(limits).map(([policy, { per, requests }]) => `${policy} ${requests} ${per}`),
    [
      "default 60 key",
      "chat 60 key",
      "search 60 key",
      "images 30 key",
      "video 2 key",
      "video_status unlimited key",
      "files 600 key",
      "management_reads 120 account",
      "management_writes 30 account",
      "operator_reads 300 key",
      "operator_writes 60 key",
      "console_reads 120 account",
      "console_writes 30 account"
    ]
  )
})

it("only video_status is unlimited, and it reports the default window", () => {
  for (const policy of Object.keys(limits) as Array<keyof typeof limits>) {
    assert.strictEqual(isUnlimited(policy), policy === "video_status")
    assert.strictEqual(windowOf(policy), policy === "video_status" ? "default" : policy)
  }
})

it("a scaled limit is a whole number of at least 1 that fits into a header", () => {
  const cases: ReadonlyArray<readonly [scale: number, requests: number]> = [
    [1, 60],
    [1.99, 119],
    [0.7 * 0.1 * 100, 420],
    [1.15, 69],
    [0.01, 1],
    [0, 1],
    [-3, 1],
    [Number.NaN, 1],
    [Number.POSITIVE_INFINITY, 999_999_999_999_999]
  ]
  for (const [scale, requests] of cases) assert.strictEqual(requestsAt("chat", scale), requests, `scale ${scale}`)
})

it("requests count for the key, management requests for its account, and requests without a valid key for the address", () => {
  const caller = { keyId: "k", accountId: "a" }
  assert.deepStrictEqual(subjectOf("chat", caller, "::1"), { kind: "key", id: "k" })
  assert.deepStrictEqual(subjectOf("video_status", caller, "::1"), { kind: "key", id: "k" })
  assert.deepStrictEqual(subjectOf("management_reads", caller, "::1"), { kind: "account", id: "a" })
  assert.deepStrictEqual(subjectOf("management_writes", undefined, "::1"), { kind: "address", id: "::1" })
})
