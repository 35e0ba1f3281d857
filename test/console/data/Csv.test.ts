import { assert, describe, it } from "@effect/vitest"
import { csvOf } from "../../../src/console/data/Csv.ts"

describe("a table as comma-separated values", () => {
  it("quotes what would end a cell, and has no formulas", () => {
    const rows = [
      ["name", "cost"],
      ['a "b", c', 0.0000003],
      ["line\nbreak", null],
      ["=SUM(A1)", -2],
      ["+49", 1]
    ]
    assert.strictEqual(csvOf(rows), 'name,cost\r\n"a ""b"", c",3e-7\r\n"line\nbreak",\r\n\'=SUM(A1),-2\r\n\'+49,1\r\n')
  })
})
