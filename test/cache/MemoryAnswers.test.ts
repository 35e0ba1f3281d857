import { assert, describe, it } from "@effect/vitest"
import { ENTRY_BYTES } from "../../src/cache/Answers.ts"
import type { CacheKey } from "../../src/cache/CacheKey.ts"
import { MemoryAnswers } from "../../src/cache/MemoryAnswers.ts"

const key = (name: string | number) => `${name}` as CacheKey
const text = "x".repeat(100)
const SIZE = 100 + ENTRY_BYTES
const LATE = 1_000_000

describe("answers in memory", () => {
  it("are dropped in order of last use, not of arrival", () => {
    const answers = new MemoryAnswers(3 * SIZE)
    for (const name of ["a", "b", "c"]) answers.put(key(name), text, LATE, 0)
    assert.strictEqual(answers.get(key("a"), 1), text)
    answers.put(key("d"), text, LATE, 2)
    assert.deepStrictEqual(
      ["a", "b", "c", "d"].map((name) => answers.get(key(name), 3) === text),
      [true, false, true, true]
    )
  })

  it("never take more bytes than their limit", () => {
    const answers = new MemoryAnswers(10 * SIZE)
    for (let at = 0; at < 1_000; at++) {
      answers.put(key(at % 37), "é".repeat((at * 7919) % 700), LATE, at)
      assert.isAtMost(answers.used, 10 * SIZE)
    }
    answers.put(key("vast"), "x".repeat(10 * SIZE), LATE, 1_000)
    assert.isUndefined(answers.get(key("vast"), 1_001))
    assert.isAbove(answers.used, 0)
  })

  it("release the space of expired answers on a read and on a write", () => {
    const answers = new MemoryAnswers()
    for (let at = 0; at < 10; at++) answers.put(key(at), text, 100, 0)
    assert.isUndefined(answers.get(key(0), 100))
    assert.strictEqual(answers.used, 9 * SIZE)
    for (let at = 0; at < 5; at++) answers.put(key(`late ${at}`), text, LATE, 200)
    assert.strictEqual(answers.used, 5 * SIZE)
  })
})
