import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { AskOperator } from "../../src/admin/Confirm.ts"
import { setUp } from "./commandLine.ts"

describe("large movements of money", () => {
  it.live("require a confirmation on a terminal above $1,000, and accept only a yes", () =>
    Effect.gen(function* () {
      const { command, json, query } = yield* setUp
      yield* json("account create --email ann@example.com --balance-usd 1000")
      const asked: Array<string> = []
      const answering = (answer: string, line: string) =>
        Effect.provideService(command(line), AskOperator, (question) =>
          Effect.sync(() => {
            asked.push(question)
            return answer
          })
        )
      const line = "topup --email ann@example.com --amount-usd 2500"
      for (const no of ["", "n", "yesterday"]) {
        const { code, stderr } = yield* answering(no, line)
        assert.deepStrictEqual([code, stderr], [1, ["error: The operator declined; nothing changed."]])
      }
      assert.deepStrictEqual(asked[0], "Add $2,500.00 to the balance of ann@example.com? [y/N] ")
      assert.strictEqual((yield* answering("y", `${line} --json`)).stdout.length, 1)
      assert.strictEqual(
        (yield* answering("Yes", "adjust --email ann@example.com --amount-usd -1500 --reason x")).code,
        0
      )
      assert.lengthOf(asked, 5)
      yield* json(`${line} --yes`)
      yield* json("topup --email ann@example.com --amount-usd 1000")
      assert.deepStrictEqual(yield* query("SELECT posted FROM balance"), [{ posted: 5_500_000_000_000n }])
    }).pipe(Effect.scoped)
  )
})
