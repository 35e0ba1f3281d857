import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { wakeupsOf } from "../../src/platform/database/Wakeups.ts"
import { Margins } from "../../src/usage/Margins.ts"
import { ProviderSpend, Spend } from "../../src/usage/ProviderSpend.ts"
import { setSpendLimit } from "../../src/usage/ProviderSpendSql.ts"
import { Random } from "../ledger/Random.ts"
import { layer as database } from "../support/Database.ts"
import { eventually } from "../support/Eventually.ts"

const scene = () => {
  let day = "2026-11-26"
  const spend = new Spend({ gauge: () => undefined }, () => day)
  const exchange = (rows: Parameters<Spend["plan"]>[1]) => spend.apply(spend.plan(day, rows))
  return { spend, exchange, tomorrow: () => (day = "2026-11-27") }
}
const bound = (
  limit: bigint,
  more: { settled?: bigint; reserved?: bigint; granted?: bigint; nodes?: number; provider?: string } = {}
) => ({
  provider: "openai",
  limit_nano: limit,
  settled: 0n,
  reserved: 0n,
  granted: 0n,
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

const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000)

/** Nodes with the rows that they publish, which one at a time reads and writes. */
const cluster = (count: number, limit: bigint) => {
  const nodes = Array.from({ length: count }, () => new Spend({ gauge: () => undefined }, () => "2026-11-26"))
  const table = new Map<number, ReturnType<Spend["plan"]>["published"]>()
  const sumOf = (node: number, read: "settled" | "reserved" | "granted") =>
    [...table].reduce(
      (sum, [other, rows]) =>
        other === node ? sum : sum + (rows.find(({ provider }) => provider === "openai")?.[read] ?? 0n),
      0n
    )
  const publish = (node: number) => {
    const others = {
      settled: sumOf(node, "settled"),
      reserved: sumOf(node, "reserved"),
      granted: sumOf(node, "granted"),
      nodes: table.size - (table.has(node) ? 1 : 0)
    }
    const planned = nodes[node]!.plan("2026-11-26", [bound(limit, others)])
    table.set(node, planned.published)
    return () => void nodes[node]!.apply(planned)
  }
  return { nodes, publish }
}

describe("nodes with a limit", () => {
  it("take the rest only from what no other node has spent or may still spend", () => {
    const { exchange, spend } = scene()
    exchange([bound(100n, { settled: 20n, granted: 60n, nodes: 1 })])
    assert.isFalse(spend.begin().reserve("openai", 21n))
    assert.isTrue(spend.begin().reserve("openai", 20n))
  })

  it("never exceed it together, whatever happens between and during their exchanges", () => {
    const random = new Random(SEED)
    const draw = (below: number) => random.below(below)
    for (let history = 0; history < 200; history++) {
      const limit = BigInt(100 + draw(10_000))
      const { nodes, publish } = cluster(1 + draw(4), limit)
      // A node admits everything until its first exchange.
      for (let node = 0; node < nodes.length; node++) publish(node)()
      const running: Array<{ readonly end: () => void }> = []
      const begun = new Map<number, () => void>()
      let [spent, reserved] = [0n, 0n]
      for (let step = 0; step < 400; step++) {
        const node = draw(nodes.length)
        switch (draw(5)) {
          case 0:
            if (!begun.has(node)) begun.set(node, publish(node))
            break
          case 1:
            begun.get(node)?.()
            begun.delete(node)
            break
          case 2:
            running.splice(draw(running.length), 1)[0]?.end()
            break
          default: {
            const most = BigInt(1 + draw(Number(limit) / 4))
            const request = nodes[node]!.begin()
            if (!request.reserve("openai", most)) break
            const cost = BigInt(draw(Number(most) + 1))
            reserved += most
            running.push({
              end: () => {
                reserved -= most
                spent += cost
                request.end([["openai", cost]])
              }
            })
          }
        }
        assert.isTrue(spent + reserved <= limit, `SEED=${SEED}, history ${history}, step ${step}`)
      }
    }
  })

  it("give back what they do not need, so that one busy node can spend nearly all of it", () => {
    const { nodes, publish } = cluster(2, 1_000_000n)
    for (let round = 0; round < 40; round++) {
      publish(1)()
      publish(0)()
      const request = nodes[0]!.begin()
      let cost = 0n
      while (request.reserve("openai", 1_000n)) cost += 1_000n
      request.end([["openai", cost]])
    }
    const { published } = nodes[0]!.plan("2026-11-26", [])
    assert.isAbove(Number(published.find(({ provider }) => provider === "openai")?.settled), 990_000)
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

  it.live("that starts waits for its part of the rest, and gives it back when it stops", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* setSpendLimit(sql, "openai", 1_000n)
      const start = Effect.map(
        Layer.build(Layer.fresh(ProviderSpend.layer.pipe(Layer.provide(Margins.layer)))),
        (services) => Context.get(services, ProviderSpend)
      )
      const granted = Effect.map(
        sql<{ granted: bigint }>`SELECT granted FROM provider_spend WHERE provider = 'openai' ORDER BY granted`,
        (rows) => rows.map((row) => row.granted)
      )
      yield* start
      assert.deepStrictEqual(yield* granted, [1_000n])
      yield* Effect.scoped(
        Effect.gen(function* () {
          const second = yield* start
          assert.isFalse(second.isStopped("openai"))
          assert.isTrue(second.begin().reserve("openai", 300n))
        })
      )
      assert.strictEqual((yield* granted)[0], 0n)
    }).pipe(Effect.scoped, Effect.provide(database))
  )
})
