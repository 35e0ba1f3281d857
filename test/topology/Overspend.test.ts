/** Concurrent callers on all nodes never overspend a balance or a budget. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Agent } from "node:http"
import { type Account, missing, Nodes, type Topology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { chat, type Outcome, tally } from "./Callers.ts"

announceSkip("balances and budgets of several nodes", missing)

/** A request that uses its whole hold, so that nothing is released for another request. */
const wholeHold = { model: "gpt-4o", maxTokens: 50, sandbox: "usage=held" }

/** Sends concurrent requests, to all nodes in turn. */
const rush = ({ nodes }: Topology, { key }: Account, count: number, more: object = {}) =>
  Effect.scoped(
    Effect.gen(function* () {
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 40 })),
        (made) => Effect.sync(() => made.destroy())
      )
      return yield* Effect.forEach(
        Array.from({ length: count }).keys(),
        (index) =>
          chat(nodes[index % nodes.length]!.origin, { key, agent, stream: index % 2 === 1, ...wholeHold, ...more }),
        { concurrency: "unbounded" }
      )
    })
  )

/** The cost of one such request. */
const priceOf = (topology: Topology) =>
  Effect.gen(function* () {
    const account = yield* topology.open()
    const [outcomes] = yield* rush(topology, account, 1)
    yield* topology.untilNoHold
    const { posted } = yield* topology.accountState(account)
    assert.strictEqual(account.credited - posted, outcomes!.cost)
    return outcomes!.cost!
  })

const served = (outcomes: ReadonlyArray<Outcome>) => outcomes.filter(({ isComplete }) => isComplete)

describe.skipIf(missing !== undefined)("three nodes under concurrent requests", () => {
  layer(Nodes.layer(), { excludeTestServices: true })((it) => {
    it.effect("serve exactly as many requests as a balance pays for", () =>
      Effect.gen(function* () {
        const topology = yield* Nodes
        const price = yield* priceOf(topology)
        const account = yield* topology.open(price * 50n + price / 2n)
        const outcomes = yield* rush(topology, account, 240)
        assert.deepStrictEqual(tally(outcomes), { served: 50, "402 insufficient_credits": 190 })
        yield* topology.untilNoHold
        assert.deepStrictEqual(yield* topology.accountState(account), { posted: price / 2n, held: 0n, running: 0 })
      })
    )

    it.effect("serve exactly as many requests as a budget pays for", () =>
      Effect.gen(function* () {
        const topology = yield* Nodes
        const price = yield* priceOf(topology)
        const account = yield* topology.open()
        const budget = { limitCents: 4, period: "lifetime" } as const
        yield* Effect.orDie(
          topology.keys.update({
            accountId: account.id,
            id: account.keyId,
            actor: { type: "operator", id: "test" },
            change: { budget }
          })
        )
        const pays = Number(40_000_000n / price)
        const outcomes = yield* rush(topology, account, 240)
        assert.deepStrictEqual(tally(outcomes), { served: pays, "402 insufficient_credits": 240 - pays })
        yield* topology.untilNoHold
        const [row] = yield* topology.sql<{ spent: bigint; held: bigint }>`SELECT p.spent, p.held FROM budget_period p
          JOIN api_key k ON k.budget_id = p.budget_id WHERE k.id = ${account.keyId}`
        assert.deepStrictEqual(row, { spent: price * BigInt(pays), held: 0n })
      })
    )

    it.effect("charge an idempotency key once for concurrent requests to all nodes", () =>
      Effect.gen(function* () {
        const topology = yield* Nodes
        const account = yield* topology.open()
        const sent = yield* Effect.forEach(
          Array.from({ length: 10 }).keys(),
          (index) => rush(topology, account, 6, { stream: false, idempotencyKey: `shared-${index}` }),
          { concurrency: "unbounded" }
        )
        yield* topology.untilNoHold
        const costs = sent.map((outcomes) => {
          const ids = new Set(served(outcomes).map(({ requestId }) => requestId))
          assert.strictEqual(ids.size, 1)
          return served(outcomes)[0]!.cost!
        })
        const { posted } = yield* topology.accountState(account)
        assert.strictEqual(
          account.credited - posted,
          costs.reduce((sum, cost) => sum + cost, 0n)
        )
      })
    )

    it.effect("leave the books without errors", () =>
      Effect.gen(function* () {
        const { failedChecks } = yield* Nodes
        assert.deepStrictEqual(yield* failedChecks, [])
      })
    )
  })
})
