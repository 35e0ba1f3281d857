/** What stops a caller holds at once on every node, for the hold and every other check asks the database. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { OPERATOR } from "../../src/billing/Customers.ts"
import { until } from "../support/Until.ts"
import { get } from "../support/Service.ts"
import { type Account, missing, Nodes, type Topology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { chat, load, type Seen, tally } from "./Callers.ts"

announceSkip("stops that hold on every node", missing)

/** Callers of each node; every third streams. */
const CALLERS = 3

/** How one change is made and what callers hear of it on every node. */
interface Stop {
  readonly change: (topology: Topology, account: Account) => Effect.Effect<unknown>
  readonly refusal: string
}

const manage = ({ nodes }: Topology, { managementKey }: Account, method: string, path: string, body?: object) =>
  Effect.promise(async () => {
    const response = await fetch(`${nodes[0]!.api}/management${path}`, {
      method,
      headers: { authorization: `Bearer ${managementKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    assert.isBelow(response.status, 300, await response.text())
  })

const stops: Readonly<Record<string, Stop>> = {
  "a revoked key": {
    change: (topology, account) => manage(topology, account, "DELETE", `/keys/${account.keyId}`),
    refusal: "401 invalid_api_key"
  },
  "a suspended account": {
    change: ({ accounts }, account) =>
      Effect.orDie(accounts.setState(account, { to: "suspended", reason: "test", actor: OPERATOR })),
    refusal: "403 account_suspended"
  },
  "a first budget that is spent already": {
    change: (topology, account) =>
      manage(topology, account, "PATCH", `/keys/${account.keyId}`, { budget_cents: 0, budget_period: "lifetime" }),
    refusal: "402 insufficient_credits"
  }
}

/** What callers on all nodes see while a change is made, and when its answer had come. */
const during = Effect.fnUntraced(function* (topology: Topology, account: Account, change: Effect.Effect<unknown>) {
  const { nodes } = topology
  const callers = yield* load(CALLERS * nodes.length, (caller) =>
    chat(nodes[caller % nodes.length]!.origin, { key: account.key, stream: caller < nodes.length })
  )
  yield* until(
    "every node remembers the key",
    Effect.sync(() => callers.seen.length > 6 * CALLERS * nodes.length)
  )
  yield* change
  const changedAt = performance.now()
  const after = () => callers.seen.filter(({ startedAt }) => startedAt > changedAt)
  yield* until(
    "every caller has been answered several times since",
    Effect.sync(() => after().length > 3 * CALLERS * nodes.length)
  )
  yield* callers.end
  return { seen: callers.seen, after: after() }
})

/** One answer of each node, asked directly. */
const asked = ({ nodes }: Topology, { key }: Account, more: object = {}) =>
  Effect.forEach(nodes, ({ origin }) => chat(origin, { key, ...more }), { concurrency: "unbounded" })

const kinds = (seen: ReadonlyArray<Seen>) => Object.keys(tally(seen))

describe.skipIf(missing !== undefined)("three nodes under load", () => {
  layer(Nodes.layer(), { excludeTestServices: true })((it) => {
    for (const [name, { change, refusal }] of Object.entries(stops)) {
      it.effect(`serve nothing that begins after the answer to the change: ${name}`, () =>
        Effect.gen(function* () {
          const topology = yield* Nodes
          const account = yield* topology.open()
          const { after, seen } = yield* during(topology, account, change(topology, account))
          assert.deepStrictEqual(kinds(after), [refusal])
          assert.deepStrictEqual(kinds(seen).toSorted(), [refusal, "served"].toSorted())
          assert.deepStrictEqual(kinds(yield* asked(topology, account)), [refusal])
          // What was begun before is charged and nothing else is.
          yield* topology.settled
          const { posted } = yield* topology.books(account)
          const paid = seen.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n)
          assert.strictEqual(account.credited - posted, paid)
        })
      )
    }

    it.effect("refuse a revoked key and a suspended account what costs nothing as well", () =>
      Effect.gen(function* () {
        const topology = yield* Nodes
        const [revoked, suspended] = [yield* topology.open(), yield* topology.open()]
        for (const account of [revoked, suspended]) yield* asked(topology, account)
        yield* stops["a revoked key"]!.change(topology, revoked)
        yield* stops["a suspended account"]!.change(topology, suspended)
        for (const { api } of topology.nodes) {
          assert.strictEqual((yield* get(`${api}/requests`, revoked.key)).status, 401)
          assert.strictEqual((yield* get(`${api}/requests`, suspended.key)).status, 403)
        }
      })
    )

    it.effect("serve again at once when an account is resumed and when a budget is raised", () =>
      Effect.gen(function* () {
        const topology = yield* Nodes
        const account = yield* topology.open()
        yield* stops["a first budget that is spent already"]!.change(topology, account)
        yield* stops["a suspended account"]!.change(topology, account)
        yield* asked(topology, account)
        yield* Effect.orDie(topology.accounts.setState(account, { to: "active", reason: "test", actor: OPERATOR }))
        assert.deepStrictEqual(kinds(yield* asked(topology, account)), ["402 insufficient_credits"])
        yield* manage(topology, account, "PATCH", `/keys/${account.keyId}`, { budget_cents: 100 })
        assert.deepStrictEqual(kinds(yield* asked(topology, account)), ["served"])
      })
    )

    it.effect("leave the books in order", () =>
      Effect.gen(function* () {
        const { faults } = yield* Nodes
        assert.deepStrictEqual(yield* faults, [])
      })
    )
  })
})
