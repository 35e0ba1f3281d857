import { assert, describe, it } from "@effect/vitest"
import { availableTo, playPays } from "../../src/domain/Balance.ts"

const real = { posted: 50n, held: 20n }
const both = { posted: 150n, held: 60n, play: { posted: 100n, held: 40n } }

describe("the available amount", () => {
  it("is that of real money, and for the sandbox that of whichever kind of money has more", () => {
    assert.deepStrictEqual(
      [availableTo(real, false), availableTo(real, true), availableTo(both, false), availableTo(both, true)],
      [30n, 30n, 30n, 60n]
    )
    assert.strictEqual(availableTo({ posted: 60n, held: 0n, play: { posted: 10n, held: 0n } }, true), 50n)
  })
})

describe("simulated money", () => {
  it("pays if it covers the most that a request may cost, or if real money does not cover the least", () => {
    const pays = (atLeast: bigint, upTo: bigint) => playPays(both, { atLeast, upTo })
    assert.deepStrictEqual([pays(10n, 60n), pays(10n, 61n), pays(31n, 61n), pays(61n, 61n)], [true, false, true, false])
    assert.isFalse(playPays(real, { atLeast: 0n, upTo: 0n }))
    assert.isFalse(playPays({ ...real, play: { posted: 0n, held: 0n } }, { atLeast: 0n, upTo: 0n }))
  })
})
