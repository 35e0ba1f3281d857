/** The clocks of two nodes are a minute wrong, one ahead and one behind: what goes by time goes by the database's and by Redis's. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, type Scope } from "effect"
import { Webhook } from "standardwebhooks"
import { limits } from "../../src/ratelimit/Limits.ts"
import { until } from "../support/Until.ts"
import { makeClock, missing as noClock } from "../support/Clock.ts"
import { type Receiver, receiver } from "../support/Receiver.ts"
import { get, json, post } from "../support/Service.ts"
import { missing as noNodes, startTopology, type Topology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { chat, tally } from "./Callers.ts"

const missing = noNodes ?? noClock
announceSkip("clocks of several nodes", missing)

const AHEAD_MS = [60_000, -60_000, 0]

/** Short, so that a request can outlast it; its node renews it. */
const HOLD_TTL_MS = 6_000

interface Stage {
  readonly topology: Topology
  /** Sets how far the first node's clock is ahead. */
  readonly set: (aheadMs: number) => Effect.Effect<void>
  readonly hook: Receiver
}

const startStage: Effect.Effect<Stage, unknown, Scope.Scope> = Effect.gen(function* () {
  const clocks = yield* Effect.forEach(AHEAD_MS, (ahead) => Effect.tap(makeClock, ({ set }) => set(ahead)))
  const topology = yield* startTopology({
    settings: { RATE_LIMIT_SCALE: "3", HOLD_TTL: `${HOLD_TTL_MS} millis` },
    settingsOf: (index) => clocks[index]!.environment
  })
  return { topology, set: clocks[0]!.set, hook: yield* receiver() }
})

class Staged extends Context.Service<Staged, Stage>()("tollgate/test/StagedClocks") {
  static readonly layer = Layer.effect(Staged, Effect.orDie(startStage))
}

/** One answer of each node, all asked at once. */
const asked = ({ nodes }: Topology, more: Omit<Parameters<typeof chat>[1], "key">, key: string) =>
  Effect.forEach(nodes, ({ origin }) => chat(origin, { key, ...more }), { concurrency: "unbounded" })

const manage = (api: string, key: string, method: string, path: string, body: object) =>
  Effect.promise(async () => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const response = await fetch(`${api}/management${path}`, { method, headers, body: JSON.stringify(body) })
    // oxlint-disable-next-line typescript/no-explicit-any
    return { status: response.status, body: (await response.json()) as any }
  })

describe.skipIf(missing !== undefined)("nodes whose clocks are a minute ahead, a minute behind, and right", () => {
  layer(Staged.layer, { excludeTestServices: true })((it) => {
    it.effect("have these clocks", () =>
      Effect.gen(function* () {
        const { topology } = yield* Staged
        const { key } = yield* topology.open()
        const seen = yield* asked(topology, {}, key)
        const offsets = seen.map(({ headers }) => Date.parse(headers["date"] ?? "") - Date.now())
        for (const [index, offset] of offsets.entries()) assert.closeTo(offset, AHEAD_MS[index]!, 5_000)
      })
    )

    it.effect("keep each other's holds for their lifetime, and end those of none", () =>
      Effect.gen(function* () {
        const { topology } = yield* Staged
        const account = yield* topology.open()
        // Longer than the sweeps of the others wait, and longer than a hold lives unless its node renews it.
        const seen = yield* asked(topology, { sandbox: `latency_ms=${HOLD_TTL_MS + 1_500}` }, account.key)
        assert.deepStrictEqual(tally(seen), { served: 3 })
        yield* topology.settled
        const paid = seen.reduce((sum, { cost }) => sum + cost!, 0n)
        const { held, posted } = yield* topology.books(account)
        assert.deepStrictEqual([held, account.credited - posted], [0n, paid])
      })
    )

    it.effect("charge an idempotency key once, and replay it on every node", () =>
      Effect.gen(function* () {
        const { topology } = yield* Staged
        const account = yield* topology.open()
        for (let turn = 0; turn < topology.nodes.length; turn++) {
          const idempotencyKey = `turn-${turn}`
          const first = yield* chat(topology.nodes[turn]!.origin, { key: account.key, idempotencyKey })
          const repeats = yield* asked(topology, { idempotencyKey }, account.key)
          for (const one of [first, ...repeats]) {
            assert.isTrue(one.isWhole)
            assert.strictEqual(one.requestId, first.requestId)
          }
          for (const { headers } of repeats) assert.strictEqual(headers["idempotency-replayed"], "true")
        }
        const receipts = yield* topology.sql`SELECT FROM request WHERE account_id = ${account.id} AND settled > 0`
        assert.strictEqual(receipts.length, topology.nodes.length)
      })
    )

    it.effect("admit exactly the number of a window together, and tell all the same end of it", () =>
      Effect.gen(function* () {
        const { topology } = yield* Staged
        const { key } = yield* topology.open()
        const limit = 3 * limits.chat.requests
        const seen = yield* Effect.forEach(
          Array.from({ length: limit + 60 }).keys(),
          (index) => chat(topology.nodes[index % 3]!.origin, { key }),
          { concurrency: 60 }
        )
        assert.deepStrictEqual(tally(seen), { served: limit, "429 rate_limit_exceeded": 60 })
        for (const { headers } of seen) assert.isAtMost(Number(headers["x-ratelimit-reset"]), 60)
      })
    )

    it.effect("spend a budget no further, and tell the same of it", () =>
      Effect.gen(function* () {
        const { topology } = yield* Staged
        const { nodes } = topology
        const account = yield* topology.open()
        const { api } = nodes[0]!
        const budget = { budget_cents: 1, budget_period: "lifetime" }
        const path = `/keys/${account.keyId}`
        assert.strictEqual((yield* manage(api, account.managementKey, "PATCH", path, budget)).status, 200)
        const seen = yield* Effect.forEach(
          Array.from({ length: 60 }).keys(),
          (index) =>
            chat(nodes[index % 3]!.origin, { key: account.key, model: "gpt-4o", maxTokens: 50, sandbox: "usage=held" }),
          { concurrency: "unbounded" }
        )
        const paid = seen.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n)
        assert.isAtMost(Number(paid), 10_000_000)
        const price = seen.find(({ isWhole }) => isWhole)!.cost!
        assert.isAbove(Number(paid + price), 10_000_000)
      })
    )

    it.effect("count in the same period of a budget, even if one of them has a later day", () =>
      Effect.gen(function* () {
        const { set, topology } = yield* Staged
        const account = yield* topology.open()
        yield* topology.keys.update({
          accountId: account.id,
          id: account.keyId,
          actor: { type: "operator", id: "test" },
          change: { budget: { limitCents: 100, period: "daily" } }
        })
        yield* Effect.acquireUseRelease(
          set(AHEAD_MS[0]! + 86_400_000),
          () =>
            Effect.map(asked(topology, {}, account.key), (seen) => assert.deepStrictEqual(tally(seen), { served: 3 })),
          () => set(AHEAD_MS[0]!)
        )
        yield* topology.settled
        const periods = yield* topology.sql<{ requests: number }>`SELECT count(*)::int AS requests FROM request r
          WHERE account_id = ${account.id} GROUP BY budgets`
        assert.deepStrictEqual(periods, [{ requests: 3 }])
      })
    )

    it.effect("end a key at the same moment, and not before", () =>
      Effect.gen(function* () {
        const { topology } = yield* Staged
        const account = yield* topology.open()
        const made = yield* topology.keys.create({
          accountId: account.id,
          kind: "inference",
          name: "short",
          scopes: [],
          actor: { type: "operator", id: "test" },
          expiresAt: new Date(Date.now() + 6_000)
        })
        assert.deepStrictEqual(tally(yield* asked(topology, {}, made.key)), { served: 3 })
        // They remember the key now.
        assert.deepStrictEqual(tally(yield* asked(topology, {}, made.key)), { served: 3 })
        yield* Effect.sleep("6500 millis")
        assert.deepStrictEqual(tally(yield* asked(topology, {}, made.key)), { "401 invalid_api_key": 3 })
      })
    )

    it.effect("sign webhooks that a receiver with the right time accepts", () =>
      Effect.gen(function* () {
        const { hook, topology } = yield* Staged
        const account = yield* topology.open()
        const wanted = { url: hook.url, events: ["video.completed"] }
        const made = yield* Effect.flatMap(post(`${topology.nodes[0]!.api}/webhooks`, account.key, wanted), json)
        // Each node tries an endpoint itself.
        for (const { api } of topology.nodes) {
          assert.isBelow((yield* post(`${api}/webhooks/${made.id}/test`, account.key, {})).status, 300)
        }
        yield* hook.have(topology.nodes.length)
        for (const { body, headers } of hook.received) new Webhook(made.secret).verify(body, headers)
        const times = hook.received.map(({ headers }) => Number(headers["webhook-timestamp"]) * 1_000 - Date.now())
        assert.isAtMost(Math.max(...times.map(Math.abs)), 90_000)
      })
    )

    it.effect("tell the same receipts and the same usage", () =>
      Effect.gen(function* () {
        const { topology } = yield* Staged
        const account = yield* topology.open()
        for (let turn = 0; turn < 3; turn++) {
          assert.deepStrictEqual(tally(yield* asked(topology, {}, account.key)), { served: 3 })
        }
        const { posted } = yield* topology.books(account)
        for (const { api } of topology.nodes) {
          const list = yield* Effect.flatMap(get(`${api}/requests?limit=100`, account.key), json)
          assert.strictEqual(list.data.length, 9)
          yield* until(
            "usage has all of it",
            Effect.map(Effect.flatMap(get(`${api}/usage`, account.key), json), (usage) => {
              const told = JSON.stringify(usage)
              return told.includes(`"requests":9`) && posted < account.credited
            }),
            "10 seconds"
          )
        }
      })
    )

    it.effect("leave the books in order", () =>
      Effect.gen(function* () {
        const { topology } = yield* Staged
        assert.deepStrictEqual(yield* topology.faults, [])
      })
    )
  })
})
