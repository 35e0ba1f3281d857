import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { wakeupsOf } from "../../src/platform/database/Wakeups.ts"
import { Margins } from "../../src/usage/Margins.ts"
import { ProviderSpend, Spend } from "../../src/usage/ProviderSpend.ts"
import { setSpendLimit } from "../../src/usage/ProviderSpendSql.ts"
import { layer as database } from "../support/Database.ts"
import { eventually } from "../support/Eventually.ts"

const scene = () => {
  let day = "2026-11-26"
  const spend = new Spend({ gauge: () => undefined }, () => day)
  const exchange = (rows: Parameters<Spend["exchanged"]>[1]) => spend.exchanged(day, rows)
  return { spend, exchange, tomorrow: () => (day = "2026-11-27") }
}
const bound = (
  limit: bigint,
  more: { settled?: bigint; reserved?: bigint; nodes?: number; provider?: string } = {}
) => ({
  provider: "openai",
  limit_nano: limit,
  settled: 0n,
  reserved: 0n,
  nodes: 0,
  ...more
})

describe("the provider spend of a node", () => {
  it("admits everything without a limit, and counts it for a later limit", () => {
    const { exchange, spend } = scene()
    const request = spend.begin()
    assert.isTrue(request.reserve("openai", 90n))
    exchange([bound(100n)])
    assert.isFalse(spend.begin().reserve("openai", 11n))
    assert.isTrue(spend.begin().reserve("openai", 10n))
    assert.isTrue(spend.isStopped("openai"))
    assert.isFalse(spend.isStopped("anthropic"))
  })

  it("releases what a request did not cost, once", () => {
    const { exchange, spend } = scene()
    exchange([bound(100n)])
    const request = spend.begin()
    assert.isTrue(request.reserve("openai", 100n))
    assert.isFalse(spend.begin().reserve("openai", 1n))
    request.end([["openai", 30n]])
    request.end()
    assert.isFalse(spend.begin().reserve("openai", 71n))
    assert.isTrue(spend.begin().reserve("openai", 70n))
  })

  it("shares the rest of a limit with other nodes, and counts their shares", () => {
    const { exchange, spend } = scene()
    exchange([bound(100n, { settled: 20n, reserved: 20n, nodes: 2 })])
    assert.isFalse(spend.begin().reserve("openai", 21n))
    assert.isTrue(spend.begin().reserve("openai", 20n))
  })

  it("obeys the limit on all providers together, and the receipts when their sum is higher", () => {
    const { exchange, spend } = scene()
    spend.compared(
      "2026-11-26",
      new Map([
        ["openai", 60n],
        ["anthropic", 30n]
      ])
    )
    exchange([bound(100n, { provider: "" })])
    assert.isFalse(spend.begin().reserve("mistral", 11n))
    assert.isTrue(spend.begin().reserve("mistral", 10n))
  })

  it("reports 80 % and 100 % of the limit once, and starts each day at zero", () => {
    const { exchange, spend, tomorrow } = scene()
    spend.begin().reserve("openai", 80n)
    assert.deepStrictEqual(exchange([bound(100n)]), ["openai cost $0.00000008 of $0.0000001 on 2026-11-26 (80 %)"])
    assert.deepStrictEqual(exchange([bound(100n)]), [])
    const [words] = exchange([bound(80n)])
    assert.match(words!, /\(100 %\); no further request goes there today$/)
    tomorrow()
    assert.deepStrictEqual(exchange([bound(80n)]), [])
    assert.isTrue(spend.begin().reserve("openai", 80n))
  })
})

describe("a node", () => {
  it.effect("learns of a limit that another connection sets or removes without polling", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const spend = yield* ProviderSpend
      /** While the node's clock stands still, only notifications end its waiting. */
      const until = (isSo: () => boolean) => TestClock.withLive(eventually(Effect.sync(isSo), (so) => so))
      yield* until(() => Duration.toSeconds(wakeupsOf(sql).waitAtMost(0)) > 0)
      assert.isFalse(spend.isStopped("openai"))
      yield* setSpendLimit(sql, "openai", 0n)
      yield* until(() => spend.isStopped("openai"))
      yield* setSpendLimit(sql, "openai", 1_000n)
      yield* until(() => !spend.isStopped("openai"))
    }).pipe(
      Effect.scoped,
      Effect.provide(ProviderSpend.layer.pipe(Layer.provide(Margins.layer), Layer.provideMerge(database)))
    )
  )
})
