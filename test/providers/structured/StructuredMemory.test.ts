import { assert, describe, it } from "@effect/vitest"
import { MAX_OFF_A_MINUTE, MAX_STRIKES, StructuredMemory } from "../../../src/providers/structured/StructuredMemory.ts"

const schema = { type: "object" }

describe("StructuredMemory", () => {
  it("identifies a schema by its content, and blocks by account", () => {
    const memory = new StructuredMemory()
    const [one, other] = [memory.keyOf("one", schema), memory.keyOf("other", { ...schema })]
    memory.fit(one, 0)
    assert.isTrue(memory.isFit(other, 0))
    assert.isFalse(memory.isFit(memory.keyOf("one", { type: "array" }), 0))
    memory.tooHard(one, "why", 0)
    assert.deepStrictEqual(memory.blockOf(one, 599_999), { detail: "why" })
    assert.isUndefined(memory.blockOf(other, 0))
    assert.isUndefined(memory.blockOf(one, 600_000))
  })

  it("cancels an invalid answer against a valid one", () => {
    const memory = new StructuredMemory()
    const key = memory.keyOf("one", schema)
    const at = (times: number) => times * 60_000
    for (let time = 0; time < 10; time++) {
      memory.failed(key, at(time))
      memory.met(key, at(time))
    }
    assert.isUndefined(memory.blockOf(key, at(10)))
    for (let time = 0; time < MAX_STRIKES; time++) {
      assert.isUndefined(memory.blockOf(key, at(11 + time)))
      memory.failed(key, at(11 + time))
    }
    assert.isDefined(memory.blockOf(key, at(20)))
    assert.isUndefined(memory.blockOf(key, at(80)))
  })

  it("reports when an account may retry, counting per minute", () => {
    const memory = new StructuredMemory()
    const of = (title: number) => memory.keyOf("one", { ...schema, title })
    for (let title = 0; title < MAX_OFF_A_MINUTE; title++) memory.failed(of(title), title * 1_000)
    assert.strictEqual(memory.blockOf(of(99), 20_000)?.retryAfterSeconds, 40)
    assert.isUndefined(memory.blockOf(memory.keyOf("other", schema), 20_000))
    assert.isUndefined(memory.blockOf(of(99), 60_000))
    memory.failed(of(99), 60_000)
    assert.isUndefined(memory.blockOf(of(98), 60_000))
  })
})
