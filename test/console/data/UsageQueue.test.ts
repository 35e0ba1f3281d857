import { assert, describe, it } from "@effect/vitest"
import { inTurn } from "../../../src/console/data/UsageQueue.ts"

describe("usage requests", () => {
  it("run one after the other in order, even after one that fails", async () => {
    const log: Array<string> = []
    const read = (name: string, fails = false) =>
      inTurn(async () => {
        log.push(`${name} begins`)
        await Promise.resolve()
        log.push(`${name} ends`)
        if (fails) throw new Error(name)
        return name
      })
    const results = await Promise.allSettled([read("a"), read("b", true), read("c")])
    assert.deepStrictEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"]
    )
    assert.deepStrictEqual(log, ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"])
  })
})
