import { assert, describe, it } from "@effect/vitest"
import { csvOf } from "../../../src/console/data/Csv.ts"
import { csvCells } from "../../support/CsvCells.ts"

describe("a table as comma-separated values", () => {
  for (const [text, cell] of csvCells) {
    it(`has the cell ${JSON.stringify(cell)} for ${JSON.stringify(text)}`, () =>
      assert.strictEqual(csvOf([[text]]), `${cell}\r\n`))
  }

  it("keeps numbers unchanged, even negative ones, and has an empty cell for null", () => {
    const rows = [
      ["name", "cost"],
      ["=SUM(A1)", -2],
      ["a", 0.0000003],
      ["b", null]
    ]
    assert.strictEqual(csvOf(rows), "name,cost\r\n'=SUM(A1),-2\r\na,3e-7\r\nb,\r\n")
  })
})
