/** A short run of the crash harness; CRASH_SEED gives the seed of one that is to be run again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { planOf } from "./Faults.ts"
import { run } from "./Run.ts"
import { replayOf, summaryOf } from "./Summary.ts"

const given = process.env["CRASH_SEED"]
const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given)

describe("killed at random moments under load", () => {
  it("is the same for the same seed", () => {
    const size = { gateways: 2, kills: 7, restarts: 2 }
    assert.deepStrictEqual(planOf(seed, size), planOf(seed, size))
    assert.deepStrictEqual(
      planOf(seed, size).kills.map(({ length }) => length),
      [4, 3]
    )
    assert.notDeepEqual(planOf(seed, size), planOf(seed + 1, size))
  })

  it.live(
    `two gateways and their database lose nothing and charge nothing twice (CRASH_SEED=${seed})`,
    () =>
      Effect.gen(function* () {
        const report = yield* run({ seed, kills: 5, restarts: 1, gateways: 2, clients: 6, minutes: 1 })
        assert.deepStrictEqual(report.violations, [], `${replayOf(report)}\n${summaryOf(report)}`)
        assert.deepStrictEqual(report.done, { kills: 5, restarts: 1 })
        assert.isAbove(report.evidence.films.jobs.length, 0)
        assert.isAbove(report.evidence.receipts.filter(({ settled }) => settled > 0n).length, 0)
      }).pipe(Effect.scoped),
    { timeout: 180_000 }
  )
})
