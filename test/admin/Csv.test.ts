import { assert, describe, it } from "@effect/vitest"
import { textCell } from "../../src/admin/Csv.ts"
import { csvCells } from "../support/CsvCells.ts"

describe("a text in a CSV cell", () => {
  for (const [text, cell] of csvCells) {
    it(`is ${JSON.stringify(cell)} for ${JSON.stringify(text)}`, () => assert.strictEqual(textCell(text), cell))
  }
})
