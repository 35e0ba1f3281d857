import { assert, describe, it } from "@effect/vitest"
import { LruCache } from "../../src/platform/LruCache.ts"

describe("a cached entry", () => {
  it("lives for its lifetime, which setting it again restarts", () => {
    const memory = new LruCache<number>({ capacity: 10, lifeMs: 100 })
    memory.set("a", 1, 0)
    assert.strictEqual(memory.get("a", 99), 1)
    assert.strictEqual(memory.get("a", 100), undefined)
    assert.strictEqual(memory.size, 0)
    memory.set("a", 1, 0)
    memory.set("a", 2, 60)
    assert.strictEqual(memory.get("a", 150), 2)
    assert.strictEqual(memory.get("b", 0), undefined)
  })

  it("is evicted when it is the least recently used beyond the capacity", () => {
    const memory = new LruCache<string>({ capacity: 2, lifeMs: 100 })
    memory.set("a", "A", 0)
    memory.set("b", "B", 0)
    assert.strictEqual(memory.get("a", 1), "A")
    memory.set("c", "C", 1)
    assert.strictEqual(memory.size, 2)
    assert.deepStrictEqual([memory.get("a", 2), memory.get("b", 2), memory.get("c", 2)], ["A", undefined, "C"])
  })
})
