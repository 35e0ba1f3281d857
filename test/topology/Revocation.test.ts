/** Revoked keys, suspended accounts and spent budgets hold on every node at once, because each hold checks them in the database. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { OPERATOR } from "../../src/billing/Customers.ts"
import { until } from "../support/Until.ts"
import { managing } from "../support/Management.ts"
import { get } from "../support/Service.ts"
import { type Account, missing, Nodes, type Topology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { chat, chatAtEach, load, type Outcome, tally } from "./Callers.ts"

announceSkip("revocation on several nodes", missing)

/** Callers of each node. One of three streams. */
const CALLERS = 3

/** A change that stops a caller, and the status and code of its next requests. */
interface Revocation {
  readonly change: (topology: Topology, account: Account) => Effect.Effect<unknown>
  readonly refusal: string
}

const manage = ({ nodes }: Topology, { managementKey }: Account, method: string, path: string, content?: object) =>
  Effect.map(managing(nodes[0]!, managementKey)(method, path, content), ({ body, status }) =>
    assert.isBelow(status, 300, JSON.stringify(body))
  )

const revocations: Readonly<Record<string, Revocation>> = {
  "a revoked key": {
    change: (topology, account) => manage(topology, account, "DELETE", `/keys/${account.keyId}`),
    refusal: "401 invalid_api_key"
  },
  "a suspended account": {
    change: ({ accounts }, account) =>
      Effect.orDie(accounts.setState(account, { to: "suspended", reason: "test", actor: OPERATOR })),
    refusal: "403 account_suspended"
  },
  "a spent budget": {
    change: (topology, account) =>
      manage(topology, account, "PATCH", `/keys/${account.keyId}`, { budget_cents: 0, budget_period: "lifetime" }),
    refusal: "402 insufficient_credits"
  }
}

/** Makes a change under load on all nodes. Returns all outcomes, and those of requests that began after the change. */
const changeUnderLoad = Effect.fnUntraced(function* (
  topology: Topology,
  account: Account,
  change: Effect.Effect<unknown>
) {
  const { nodes } = topology
  const callers = yield* load(CALLERS * nodes.length, (caller) =>
    chat(nodes[caller % nodes.length]!.origin, { key: account.key, stream: caller < nodes.length })
  )
  yield* until(
    "every node has the key in its cache",
    Effect.sync(() => callers.outcomes.length > 6 * CALLERS * nodes.length)
  )
  yield* change
  const changedAt = performance.now()
  const after = () => callers.outcomes.filter(({ startedAt }) => startedAt > changedAt)
  yield* until(
    "every caller has several outcomes since the change",
    Effect.sync(() => after().length > 3 * CALLERS * nodes.length)
  )
  yield* callers.end
  return { outcomes: callers.outcomes, after: after() }
})

const kinds = (outcomes: ReadonlyArray<Outcome>) => Object.keys(tally(outcomes))

describe.skipIf(missing !== undefined)("three nodes under load", () => {
  layer(Nodes.layer(), { excludeTestServices: true })((it) => {
    for (const [name, { change, refusal }] of Object.entries(revocations)) {
      it.effect(`serve no request that begins after the change: ${name}`, () =>
        Effect.gen(function* () {
          const topology = yield* Nodes
          const account = yield* topology.open()
          const { after, outcomes } = yield* changeUnderLoad(topology, account, change(topology, account))
          assert.deepStrictEqual(kinds(after), [refusal])
          assert.deepStrictEqual(kinds(outcomes).toSorted(), [refusal, "served"].toSorted())
          assert.deepStrictEqual(kinds(yield* chatAtEach(topology, account)), [refusal])
          // Only earlier requests are charged.
          yield* topology.untilNoHold
          const { posted } = yield* topology.accountState(account)
          const paid = outcomes.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n)
          assert.strictEqual(account.credited - posted, paid)
        })
      )
    }

    it.effect("also refuse a revoked key and a suspended account free operations", () =>
      Effect.gen(function* () {
        const topology = yield* Nodes
        const [revoked, suspended] = [yield* topology.open(), yield* topology.open()]
        for (const account of [revoked, suspended]) yield* chatAtEach(topology, account)
        yield* revocations["a revoked key"]!.change(topology, revoked)
        yield* revocations["a suspended account"]!.change(topology, suspended)
        for (const { api } of topology.nodes) {
          assert.strictEqual((yield* get(`${api}/requests`, revoked.key)).status, 401)
          assert.strictEqual((yield* get(`${api}/requests`, suspended.key)).status, 403)
        }
      })
    )

    it.effect("serve again at once after an account is resumed and a budget is raised", () =>
      Effect.gen(function* () {
        const topology = yield* Nodes
        const account = yield* topology.open()
        yield* revocations["a spent budget"]!.change(topology, account)
        yield* revocations["a suspended account"]!.change(topology, account)
        yield* chatAtEach(topology, account)
        yield* Effect.orDie(topology.accounts.setState(account, { to: "active", reason: "test", actor: OPERATOR }))
        assert.deepStrictEqual(kinds(yield* chatAtEach(topology, account)), ["402 insufficient_credits"])
        yield* manage(topology, account, "PATCH", `/keys/${account.keyId}`, { budget_cents: 100 })
        assert.deepStrictEqual(kinds(yield* chatAtEach(topology, account)), ["served"])
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
