import { assert, describe, it } from "@effect/vitest"
import { defined } from "../../../src/console/data/Defined.ts"

describe("the defined fields of a record", () => {
  it("are those with a value, which may be null, zero or empty", () =>
    assert.deepStrictEqual(Object.entries(defined({ a: 1, b: undefined, c: null, d: 0, e: "" })), [
      ["a", 1],
      ["c", null],
      ["d", 0],
      ["e", ""]
    ]))
})
