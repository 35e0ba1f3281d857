import { assert, describe, it } from "@effect/vitest"
import { textOf } from "../support/Sources.ts"
import { keepsUp, limitOf, measured, random, type Setting, table, usualLoad } from "./Simulation.ts"

const one: Setting = { nodes: 10, spread: 10, servers: 1, groups: "all", redis: 16 }

describe("the simulation of many nodes", () => {
  it("prints the table of docs/operate/scale.md, the same every time", () => {
    assert.strictEqual(table(), table())
    assert.include(textOf("docs/operate/scale.md"), table())
  })

  it("draws the same numbers for a seed", () => {
    const [first, second] = [random(40), random(40)]
    assert.deepStrictEqual([first(), first(), first()], [second(), second(), second()])
  })

  it("names the resource that limits the throughput", () => {
    assert.deepStrictEqual(limitOf({ ...one, redis: 1 }), { requests: measured.redisDecisions, by: "Redis" })
    const slowDisk = { ...measured, walBytesPerSecond: 10_000_000 }
    assert.deepStrictEqual(limitOf(one, usualLoad, slowDisk), { requests: 2_000, by: "write-ahead log" })
    assert.strictEqual(limitOf(one).by, "locks of hot accounts")
    assert.strictEqual(
      limitOf(one, { ...usualLoad, skewed: false }, { ...measured, cores: 1 }).by,
      "processors of the databases"
    )
  })

  it("finds a lower limit with slower groups, and a higher one when hot accounts use fewer nodes", () => {
    const many: Setting = { nodes: 1_000, spread: 1_000, servers: 16, groups: "server", redis: 16 }
    assert.isFalse(keepsUp(100_000, many, usualLoad, measured))
    assert.isTrue(keepsUp(100_000, { ...many, spread: 10 }, usualLoad, measured))
    assert.isBelow(limitOf(one, usualLoad, { ...measured, groupMs: 3 }).requests, limitOf(one).requests)
  })
})
