/** Two minutes of every fault. CRASH_SEED repeats a run. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Counts, kinds, NO_FAULTS, planOf, supportedCounts } from "./Faults.ts"
import { run } from "./Run.ts"
import { replayCommand, summaryOf } from "./Summary.ts"

const seedText = process.env["CRASH_SEED"]
const seed = seedText === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(seedText)

const all: Counts = {
  kills: 3,
  pauses: 3,
  deploys: 2,
  partitions: 3,
  steps: 3,
  restarts: 1,
  fills: 1,
  slows: 1,
  failovers: 1
}

describe("a fault plan", () => {
  it("depends on the seed alone", () => {
    const size = { gateways: 2, counts: { ...NO_FAULTS, kills: 7, pauses: 2, restarts: 2 }, withinMs: 2_500 }
    assert.deepStrictEqual(planOf(seed, size), planOf(seed, size))
    assert.deepStrictEqual(
      planOf(seed, size).gateways.map((faults) => faults.filter(({ _tag }) => _tag === "kills").length),
      [4, 3]
    )
    assert.notDeepEqual(planOf(seed, size), planOf(seed + 1, size))
  })

  it("has each kind of fault as often as its count says", () => {
    const { database, gateways } = planOf(seed, { gateways: 2, counts: all, withinMs: 2_500 })
    const faults = [...gateways.flat(), ...database]
    for (const kind of kinds) assert.strictEqual(faults.filter(({ _tag }) => _tag === kind).length, all[kind], kind)
  })
})

describe("two gateways and their database", () => {
  it.live(
    `keep every promise through every fault under load (CRASH_SEED=${seed})`,
    () =>
      Effect.gen(function* () {
        const counts = supportedCounts(all)
        const report = yield* run({ seed, counts, gateways: 2, clients: 6, withinMs: 5_000, minutes: 2 })
        assert.deepStrictEqual(report.violations, [], `${replayCommand(report)}\n${summaryOf(report)}`)
        assert.deepStrictEqual(report.done, counts)
        assert.isAbove(report.evidence.videos.jobs.length, 0)
        assert.isAbove(report.evidence.receipts.filter(({ settled }) => settled > 0n).length, 0)
      }).pipe(Effect.scoped),
    { timeout: 400_000 }
  )
})
