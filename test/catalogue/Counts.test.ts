import { assert, describe, it } from "@effect/vitest"
import { Counts, type Observation } from "../../src/catalogue/Counts.ts"
import { Random } from "../ledger/Random.ts"

const seen = (durationMs: number | undefined, firstTokenMs?: number, ok = true): Observation => ({
  model: "m",
  provider: "p",
  ok,
  durationMs,
  firstTokenMs
})

/** Returns the smallest time within which at least this share of all samples finished. */
const exact = (times: ReadonlyArray<number>, share: number): number =>
  times.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(times.length * share)) - 1]!

/** Returns times of every magnitude, from a tenth of a millisecond to half an hour. */
const times = (random: Random, count: number): ReadonlyArray<number> => {
  const [least, most] = [random.next() * 21, random.next() * 21].toSorted((a, b) => a - b)
  return Array.from({ length: count }, () => 0.1 + 2 ** (least! + random.next() * (most! - least!)))
}

describe("Counts", () => {
  it("give every quantile within 10%, plus the rounding to a millisecond", () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    console.log(`seed ${seed}`)
    const random = new Random(seed)
    for (let run = 0; run < 300; run += 1) {
      const [durations, firstTokens] = [times(random, 1 + random.below(200)), times(random, 1 + random.below(200))]
      const counts = new Counts()
      for (const ms of durations) counts.add(seen(ms))
      for (const ms of firstTokens) counts.add(seen(1, ms))
      for (const share of [0, 0.01, 0.5, 0.95, 0.99, 1]) {
        const truth = exact(firstTokens, share)
        assert.approximately(counts.firstToken(share)!, truth, truth * 0.1 + 0.5, `seed ${seed}, share ${share}`)
        const all = exact([...durations, ...firstTokens.map(() => 1)], share)
        assert.approximately(counts.duration(share)!, all, all * 0.1 + 0.5, `seed ${seed}, share ${share}`)
      }
    }
  })

  it("add up stored counts, and subtract them again exactly", () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    console.log(`seed ${seed}`)
    const random = new Random(seed)
    const [left, right, both] = [new Counts(), new Counts(), new Counts()]
    for (const part of [left, right]) {
      for (const ms of times(random, 100)) {
        const observation = seen(ms, random.chance(0.5) ? ms / 2 : undefined, random.chance(0.8))
        part.add(observation)
        both.add(observation)
      }
    }
    const sum = new Counts()
    sum.addStored(left.stored)
    sum.addStored(right.stored)
    assert.deepStrictEqual(sum.stored, both.stored, `seed ${seed}`)
    sum.subtractStored(left.stored)
    assert.deepStrictEqual(sum.stored, right.stored, `seed ${seed}`)
    sum.subtractStored(right.stored)
    assert.deepStrictEqual(sum.stored, new Counts().stored)
  })

  it("are stored as the index and count of each bucket in use, with fixed indexes that all nodes share", () => {
    const counts = new Counts()
    for (const ms of [0, 1, 1.5, 1_000, 1_000, 1e12]) counts.add(seen(ms, 100))
    counts.add(seen(5, 5, false))
    assert.deepStrictEqual(counts.stored, {
      samples: 7,
      ok: 6,
      streamed: 6,
      durations: [0, 2, 2, 1, 39, 2, 84, 1],
      firstTokens: [26, 6]
    })
    assert.deepStrictEqual(new Counts().stored, { samples: 0, ok: 0, streamed: 0, durations: [], firstTokens: [] })
  })

  it("count an abandoned request and its time to first token, but no duration", () => {
    const counts = new Counts()
    for (let n = 0; n < 9; n += 1) counts.add(seen(undefined, 100))
    assert.deepStrictEqual([counts.duration(0.5), counts.firstToken(0.5)], [null, 99])
    counts.add(seen(1_000))
    const sum = new Counts()
    sum.addStored(counts.stored)
    for (const one of [counts, sum]) {
      assert.deepStrictEqual([one.samples, one.ok, one.streamed], [10, 10, 9])
      assert.deepStrictEqual([one.duration(0.1), one.duration(1)], [939, 939])
    }
    sum.subtractStored(counts.stored)
    assert.isNull(sum.duration(0.5))
  })

  it("give null for times that no successful request measured", () => {
    const counts = new Counts()
    counts.add(seen(100, 10, false))
    assert.deepStrictEqual([counts.duration(0.5), counts.firstToken(0.5)], [null, null])
    counts.add(seen(100))
    assert.deepStrictEqual([counts.duration(0.5), counts.firstToken(0.5)], [99, null])
  })
})
