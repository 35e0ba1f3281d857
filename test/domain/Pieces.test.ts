import { assert, describe, it } from "@effect/vitest"
import { Pieces } from "../../src/domain/Pieces.ts"

describe("pieces", () => {
  it("join to the text that they were cut from, in any number, and at any time", () => {
    for (const count of [0, 1, 2, 1_023, 1_024, 1_025, 5_000]) {
      const pieces = new Pieces()
      let whole = ""
      for (let at = 0; at < count; at++) {
        const piece = at % 7 === 0 ? "" : `${at} `
        pieces.add(piece)
        whole += piece
        if (at % 777 === 0) assert.strictEqual(pieces.text, whole)
      }
      assert.strictEqual(pieces.text, whole)
      assert.strictEqual(pieces.text, whole)
    }
  })
})
