import { assert, describe, it } from "@effect/vitest"
import { SqlError } from "effect/sql"
import { describeSqlError, isTransient } from "../../../src/platform/database/SqlCondition.ts"

/** A failure as the driver reports a message of the server. */
const failed = (code: string | undefined, message: string, operation = "query") => {
  const cause = Object.assign(new Error(message), code === undefined ? {} : { code })
  return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, message: "failed", operation }) })
}

describe("a database failure", () => {
  for (const [code, message, told, transient] of [
    ["53100", "no space", "the database's disk is full (SQLSTATE 53100: no space)", true],
    ["53200", "out of memory", "the database is out of memory (SQLSTATE 53200: out of memory)", true],
    ["53300", "sorry", "the database accepts no more connections (SQLSTATE 53300: sorry)", true],
    ["53999", "odd", "the database is out of resources (SQLSTATE 53999: odd)", true],
    ["57P02", "crash", "the database is restarting (SQLSTATE 57P02: crash)", true],
    ["22P02", "secret", "a value does not fit its column or function (SQLSTATE 22P02)", false],
    ["P0001", "secret", "the database refused a statement (SQLSTATE P0001)", false],
    [undefined, "secret", "a statement could not be sent to the database", false]
  ] as const) {
    it(`with SQLSTATE ${code} is described in words, without values`, () => {
      assert.strictEqual(describeSqlError(failed(code, message)), told)
      assert.strictEqual(isTransient(failed(code, message)), transient)
    })
  }

  it("to connect is described with its address", () => {
    const error = failed("ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1", "connect")
    assert.strictEqual(describeSqlError(error), "the database cannot be reached (connect ECONNREFUSED 127.0.0.1:1)")
    assert.isTrue(isTransient(error))
  })
})
