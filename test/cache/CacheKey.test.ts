import { assert, describe, it } from "@effect/vitest"
import { keyOf, type Question } from "../../src/cache/CacheKey.ts"

const question: Question = { accountId: "a", projectId: null, model: "m", request: { b: [1], a: { d: 1, c: 2 } } }

const key = (more: Partial<Question>) => keyOf({ ...question, ...more })

describe("a cache key", () => {
  it("is a SHA-256 digest of the request, whatever the order of its fields", () => {
    assert.match(key({}), /^[0-9a-f]{64}$/)
    assert.strictEqual(key({ request: { a: { c: 2, d: 1 }, b: [1] } }), key({}))
  })

  it("differs for another account, project, model or request, even when their texts are the same once joined", () => {
    const keys = [
      key({}),
      key({ accountId: "b" }),
      key({ projectId: "p" }),
      key({ projectId: "null" }),
      key({ model: "n" }),
      key({ request: {} }),
      key({ request: { ...question.request, e: 0 } }),
      key({ accountId: "a", projectId: "bc" }),
      key({ accountId: "ab", projectId: "c" })
    ]
    assert.strictEqual(new Set(keys).size, keys.length)
  })
})
