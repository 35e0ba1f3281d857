import { assert, describe, it } from "@effect/vitest"
import { day, number, oneOf, text } from "../../../src/console/app/Search.ts"

describe("the search parameters of a page", () => {
  it("are read as texts, words, days and numbers, and undefined when they are invalid", () => {
    const search = { a: "x", b: 7, c: "", day: "2026-02-28", wrong: "2026-02-30", minus: -1, word: "up" }
    assert.deepStrictEqual([text(search, "a"), text(search, "b"), text(search, "c")], ["x", "7", undefined])
    assert.deepStrictEqual([oneOf(["up", "down"], search, "word"), oneOf(["down"], search, "word")], ["up", undefined])
    assert.deepStrictEqual([day(search, "day"), day(search, "wrong")], ["2026-02-28", undefined])
    assert.deepStrictEqual(
      [number(search, "b"), number(search, "minus"), number(search, "z")],
      [7, undefined, undefined]
    )
  })
})
