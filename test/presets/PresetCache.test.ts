import { assert, describe, it } from "@effect/vitest"
import { PresetCache, REMEMBERED_MS } from "../../src/presets/PresetCache.ts"

const kept = (memory: PresetCache<string>, key: string, bytes = 1, now = 0) =>
  memory.keep(key, key.toUpperCase(), bytes, memory.changes, now)

describe("the preset cache", () => {
  it("keeps a preset for `REMEMBERED_MS`", () => {
    const memory = new PresetCache<string>()
    kept(memory, "a", 1, 100)
    assert.strictEqual(memory.get("a", 100 + REMEMBERED_MS - 1), "A")
    assert.isUndefined(memory.get("a", 100 + REMEMBERED_MS))
    kept(memory, "a", 1, 100 + REMEMBERED_MS)
    assert.strictEqual(memory.get("a", 100 + REMEMBERED_MS), "A")
  })

  it("forgets a preset at once, and ignores a read that began before", () => {
    const memory = new PresetCache<string>()
    kept(memory, "a")
    kept(memory, "b")
    const before = memory.changes
    memory.forget("a")
    assert.isUndefined(memory.get("a", 0))
    assert.strictEqual(memory.get("b", 0), "B")
    memory.keep("a", "out of date", 1, before, 0)
    assert.isUndefined(memory.get("a", 0))
    memory.keep("a", "read since", 1, memory.changes, 0)
    assert.strictEqual(memory.get("a", 0), "read since")
  })

  it("keeps at most 10,000 presets, and drops the oldest first", () => {
    const memory = new PresetCache<string>()
    for (let index = 0; index <= 10_000; index++) kept(memory, `k${index}`)
    assert.isUndefined(memory.get("k0", 0))
    assert.strictEqual(memory.get("k1", 0), "K1")
    assert.strictEqual(memory.get("k10000", 0), "K10000")
  })

  it("keeps a limited number of bytes, and counts a preset once however often it is stored", () => {
    const memory = new PresetCache<string>()
    const quarter = 4 * 1_048_576
    for (let times = 0; times < 9; times++) kept(memory, "a", quarter)
    for (const key of ["b", "c", "d"]) kept(memory, key, quarter)
    assert.strictEqual(memory.get("a", 0), "A")
    kept(memory, "e", 1)
    assert.isUndefined(memory.get("a", 0))
    for (const key of ["b", "c", "d", "e"]) assert.strictEqual(memory.get(key, 0), key.toUpperCase())
    kept(memory, "f", 5 * quarter)
    for (const key of ["b", "e", "f"]) assert.isUndefined(memory.get(key, 0))
  })
})
