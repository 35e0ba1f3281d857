import { assert, describe, it } from "@effect/vitest"
import { type Column, tableOf } from "../../src/admin/Table.ts"

interface Row {
  readonly name: string
  readonly amount: string
}

const columns: ReadonlyArray<Column<Row>> = [
  { heading: "NAME", cell: ({ name }) => name },
  { heading: "AMOUNT", cell: ({ amount }) => amount, right: true }
]

describe("tableOf", () => {
  it("aligns text at its left edge and numbers at their right edge", () =>
    assert.strictEqual(
      tableOf(columns, [
        { name: "a", amount: "$1.00" },
        { name: "longer", amount: "$1000.00" }
      ]),
      ["NAME      AMOUNT", "a          $1.00", "longer  $1000.00"].join("\n")
    ))

  it("returns the given text when there are no rows", () =>
    assert.strictEqual(tableOf(columns, [], "No one."), "No one."))
})
