import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { commandWith } from "./commandLine.ts"

const wrong: ReadonlyArray<readonly [string, string]> = [
  ["--markup-percent -100", "a percentage from -99.99 to 1000"],
  ["--markup-percent 1.234", "a percentage from -99.99 to 1000"],
  ["--requests-per-minute 0", "a whole number from 1 to 1000000, or none"],
  ["--running-videos 10001", "a whole number from 1 to 10000, or none"],
  ["--daily-spend-usd -1", "an amount of USD such as 25 or 0.5, or none"],
  ["--prices gpt-4o=1/2/3/4/5", "prices such as gpt-4o-mini=0.2/0.8"],
  ["--prices =1", "prices such as gpt-4o-mini=0.2/0.8"]
]

describe("the flags of price plans", () => {
  for (const [flag, expected] of wrong) {
    it.live(`refuse ${flag} before a database is opened`, () =>
      Effect.gen(function* () {
        const { code, stderr } = yield* commandWith({}, `plan create --name gold ${flag}`)
        assert.strictEqual(code, 1)
        assert.include(stderr.join("\n"), expected)
      })
    )
  }
})
