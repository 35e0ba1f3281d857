import { assert, describe, it } from "@effect/vitest"
import { Remembered } from "../../src/platform/Remembered.ts"

describe("what is remembered", () => {
  it("lives for its time, and anew when it is set again", () => {
    const memory = new Remembered<number>({ capacity: 10, lifeMs: 100 })
    memory.set("a", 1, 0)
    assert.strictEqual(memory.get("a", 99), 1)
    assert.strictEqual(memory.get("a", 100), undefined)
    assert.strictEqual(memory.size, 0)
    memory.set("a", 1, 0)
    memory.set("a", 2, 60)
    assert.strictEqual(memory.get("a", 150), 2)
    assert.strictEqual(memory.get("b", 0), undefined)
  })

  it("has room for so many, and forgets first what was not used for longest", () => {
    const memory = new Remembered<string>({ capacity: 2, lifeMs: 100 })
    memory.set("a", "A", 0)
    memory.set("b", "B", 0)
    assert.strictEqual(memory.get("a", 1), "A")
    memory.set("c", "C", 1)
    assert.strictEqual(memory.size, 2)
    assert.deepStrictEqual([memory.get("a", 2), memory.get("b", 2), memory.get("c", 2)], ["A", undefined, "C"])
  })
})
