/** Two nodes have clocks that are a minute ahead and a minute behind. Holds, limits and budgets must follow the database and Redis. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, type Scope } from "effect"
import { Webhook } from "standardwebhooks"
import { limits } from "../../src/ratelimit/Limits.ts"
import { until } from "../support/Until.ts"
import { makeClock, missing as noClock } from "../support/Clock.ts"
import { managing } from "../support/Management.ts"
import { type Receiver, receiver } from "../support/Receiver.ts"
import { get, json, post } from "../support/Service.ts"
import { missing as noNodes, startTopology, type Topology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { chat, chatAtEach, tally } from "./Callers.ts"

const missing = noNodes ?? noClock
announceSkip("clocks of several nodes", missing)

const AHEAD_MS = [60_000, -60_000, 0]

/** Short, so that a request can last longer than its hold without renewals. */
const HOLD_TTL_MS = 6_000

interface SkewedNodesService {
  readonly topology: Topology
  /** Sets the offset of the first node's clock. */
  readonly setClock: (aheadMs: number) => Effect.Effect<void>
  readonly hook: Receiver
}

const startNodes: Effect.Effect<SkewedNodesService, unknown, Scope.Scope> = Effect.gen(function* () {
  const clocks = yield* Effect.forEach(AHEAD_MS, (ahead) => Effect.tap(makeClock, ({ set }) => set(ahead)))
  const topology = yield* startTopology({
    settings: { RATE_LIMIT_SCALE: "3", HOLD_TTL: `${HOLD_TTL_MS} millis` },
    settingsOf: (index) => clocks[index]!.environment
  })
  return { topology, setClock: clocks[0]!.set, hook: yield* receiver() }
})

class SkewedNodes extends Context.Service<SkewedNodes, SkewedNodesService>()("tollgate/test/SkewedNodes") {
  static readonly layer = Layer.effect(SkewedNodes, Effect.orDie(startNodes))
}

describe.skipIf(missing !== undefined)("nodes whose clocks are a minute ahead, a minute behind, and correct", () => {
  layer(SkewedNodes.layer, { excludeTestServices: true })((it) => {
    it.effect("send their own time in the Date header", () =>
      Effect.gen(function* () {
        const { topology } = yield* SkewedNodes
        const { key } = yield* topology.open()
        const outcomes = yield* chatAtEach(topology, { key })
        const offsets = outcomes.map(({ headers }) => Date.parse(headers["date"] ?? "") - Date.now())
        for (const [index, offset] of offsets.entries()) assert.closeTo(offset, AHEAD_MS[index]!, 5_000)
      })
    )

    it.effect("sweep no hold that another node renews", () =>
      Effect.gen(function* () {
        const { topology } = yield* SkewedNodes
        const account = yield* topology.open()
        // Longer than the life of a hold without renewals, so that the other nodes sweep meanwhile.
        const outcomes = yield* chatAtEach(topology, { key: account.key, sandbox: `latency_ms=${HOLD_TTL_MS + 1_500}` })
        assert.deepStrictEqual(tally(outcomes), { served: 3 })
        yield* topology.untilNoHold
        const paid = outcomes.reduce((sum, { cost }) => sum + cost!, 0n)
        const { held, posted } = yield* topology.accountState(account)
        assert.deepStrictEqual([held, account.credited - posted], [0n, paid])
      })
    )

    it.effect("charge an idempotency key once and replay its answer on every node", () =>
      Effect.gen(function* () {
        const { topology } = yield* SkewedNodes
        const account = yield* topology.open()
        for (let turn = 0; turn < topology.nodes.length; turn++) {
          const idempotencyKey = `turn-${turn}`
          const first = yield* chat(topology.nodes[turn]!.origin, { key: account.key, idempotencyKey })
          const repeats = yield* chatAtEach(topology, { key: account.key, idempotencyKey })
          for (const one of [first, ...repeats]) {
            assert.isTrue(one.isComplete)
            assert.strictEqual(one.requestId, first.requestId)
          }
          for (const { headers } of repeats) assert.strictEqual(headers["idempotency-replayed"], "true")
        }
        const receipts = yield* topology.sql`SELECT FROM request WHERE account_id = ${account.id} AND settled > 0`
        assert.strictEqual(receipts.length, topology.nodes.length)
      })
    )

    it.effect("admit exactly one window's number of requests together, and report the same reset time", () =>
      Effect.gen(function* () {
        const { topology } = yield* SkewedNodes
        const { key } = yield* topology.open()
        const limit = 3 * limits.chat.requests
        const outcomes = yield* Effect.forEach(
          Array.from({ length: limit + 60 }).keys(),
          (index) => chat(topology.nodes[index % 3]!.origin, { key }),
          { concurrency: 60 }
        )
        assert.deepStrictEqual(tally(outcomes), { served: limit, "429 rate_limit_exceeded": 60 })
        for (const { headers } of outcomes) assert.isAtMost(Number(headers["x-ratelimit-reset"]), 60)
      })
    )

    it.effect("spend a budget together, and never beyond its limit", () =>
      Effect.gen(function* () {
        const { topology } = yield* SkewedNodes
        const { nodes } = topology
        const account = yield* topology.open()
        const budget = { budget_cents: 1, budget_period: "lifetime" }
        const manage = managing(nodes[0]!, account.managementKey)
        assert.strictEqual((yield* manage("PATCH", `/keys/${account.keyId}`, budget)).status, 200)
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 60 }).keys(),
          (index) =>
            chat(nodes[index % 3]!.origin, { key: account.key, model: "gpt-4o", maxTokens: 50, sandbox: "usage=held" }),
          { concurrency: "unbounded" }
        )
        const paid = outcomes.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n)
        assert.isAtMost(Number(paid), 10_000_000)
        const price = outcomes.find(({ isComplete }) => isComplete)!.cost!
        assert.isAbove(Number(paid + price), 10_000_000)
      })
    )

    it.effect("count in the same period of a budget, even when one clock is a day ahead", () =>
      Effect.gen(function* () {
        const { setClock, topology } = yield* SkewedNodes
        const account = yield* topology.open()
        yield* topology.keys.update({
          accountId: account.id,
          id: account.keyId,
          actor: { type: "operator", id: "test" },
          change: { budget: { limitCents: 100, period: "daily" } }
        })
        yield* Effect.acquireUseRelease(
          setClock(AHEAD_MS[0]! + 86_400_000),
          () =>
            Effect.map(chatAtEach(topology, { key: account.key }), (outcomes) =>
              assert.deepStrictEqual(tally(outcomes), { served: 3 })
            ),
          () => setClock(AHEAD_MS[0]!)
        )
        yield* topology.untilNoHold
        const periods = yield* topology.sql<{ requests: number }>`SELECT count(*)::int AS requests FROM request r
          WHERE account_id = ${account.id} GROUP BY budgets`
        assert.deepStrictEqual(periods, [{ requests: 3 }])
      })
    )

    it.effect("refuse an expired key at the same moment, and not before", () =>
      Effect.gen(function* () {
        const { topology } = yield* SkewedNodes
        const account = yield* topology.open()
        const made = yield* topology.keys.create({
          accountId: account.id,
          kind: "inference",
          name: "short",
          scopes: [],
          actor: { type: "operator", id: "test" },
          expiresAt: new Date(Date.now() + 6_000)
        })
        assert.deepStrictEqual(tally(yield* chatAtEach(topology, { key: made.key })), { served: 3 })
        // Now every node has the key in its cache.
        assert.deepStrictEqual(tally(yield* chatAtEach(topology, { key: made.key })), { served: 3 })
        yield* Effect.sleep("6500 millis")
        assert.deepStrictEqual(tally(yield* chatAtEach(topology, { key: made.key })), { "401 invalid_api_key": 3 })
      })
    )

    it.effect("sign webhooks that a receiver with the correct time accepts", () =>
      Effect.gen(function* () {
        const { hook, topology } = yield* SkewedNodes
        const account = yield* topology.open()
        const wanted = { url: hook.url, events: ["video.completed"] }
        const made = yield* Effect.flatMap(post(`${topology.nodes[0]!.api}/webhooks`, account.key, wanted), json)
        // The node that receives the call sends the test webhook.
        for (const { api } of topology.nodes) {
          assert.isBelow((yield* post(`${api}/webhooks/${made.id}/test`, account.key, {})).status, 300)
        }
        yield* hook.have(topology.nodes.length)
        for (const { body, headers } of hook.received) new Webhook(made.secret).verify(body, headers)
        const times = hook.received.map(({ headers }) => Number(headers["webhook-timestamp"]) * 1_000 - Date.now())
        assert.isAtMost(Math.max(...times.map(Math.abs)), 90_000)
      })
    )

    it.effect("report the same receipts and the same usage", () =>
      Effect.gen(function* () {
        const { topology } = yield* SkewedNodes
        const account = yield* topology.open()
        for (let turn = 0; turn < 3; turn++) {
          assert.deepStrictEqual(tally(yield* chatAtEach(topology, { key: account.key })), { served: 3 })
        }
        const { posted } = yield* topology.accountState(account)
        for (const { api } of topology.nodes) {
          const list = yield* Effect.flatMap(get(`${api}/requests?limit=100`, account.key), json)
          assert.strictEqual(list.data.length, 9)
          yield* until(
            "the usage has every request",
            Effect.map(Effect.flatMap(get(`${api}/usage`, account.key), json), (usage) => {
              const text = JSON.stringify(usage)
              return text.includes(`"requests":9`) && posted < account.credited
            }),
            "10 seconds"
          )
        }
      })
    )

    it.effect("leave the books without errors", () =>
      Effect.gen(function* () {
        const { topology } = yield* SkewedNodes
        assert.deepStrictEqual(yield* topology.failedChecks, [])
      })
    )
  })
})
