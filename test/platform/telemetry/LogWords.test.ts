import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger } from "effect"
import { SqlError } from "effect/sql"
import { inWords } from "../../../src/platform/telemetry/LogWords.ts"

const full = () => {
  const cause = Object.assign(new Error("no space"), { code: "53100" })
  return new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, message: "failed", operation: "query" }) })
}

describe("a log line", () => {
  it.effect("describes a database failure in words, at any depth of the error", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.make(({ cause, message }) => void lines.push(`${String(message)} ${Cause.pretty(cause)}`))
      const wrapped = new Error("a queue failed", { cause: Cause.fail(full()) })
      yield* Effect.gen(function* () {
        yield* Effect.logWarning("failed", Cause.fail(full()))
        yield* Effect.logWarning(full())
        yield* Effect.logWarning("wrapped", Cause.die(wrapped))
        yield* Effect.logWarning("other", Cause.fail(new Error("mine")))
      }).pipe(Effect.provide(Logger.layer([inWords(logger)])))
      assert.lengthOf(lines, 4)
      for (const line of lines.slice(0, 3)) {
        assert.include(line, "the database's disk is full (SQLSTATE 53100: no space)")
        assert.notInclude(line, "UnknownError")
      }
      assert.include(lines[2], "a queue failed")
      assert.include(lines[3], "mine")
    })
  )
})
