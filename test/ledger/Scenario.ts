import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { ConcludeOperation, HoldOperation, Operation } from "../../src/ledger/Operation.ts"
import {
  addBudget,
  addKey,
  adjust,
  claim,
  close,
  conclusion,
  credit,
  type Customer,
  customer,
  extend,
  hold,
  onDay,
  refund,
  run
} from "./Fixture.ts"
import { Model } from "./Model.ts"
import type { Random } from "./Random.ts"

/** Accounts, keys and budgets in a database and, the same, in a model. */
export interface Scenario {
  readonly model: Model
  readonly customers: ReadonlyArray<Customer>
  readonly budgetsOf: ReadonlyMap<string, ReadonlyArray<string>>
}

/** Three accounts with so little that refusals are common; one has two keys, two have budgets. */
export const makeScenario = (sql: SqlClient.SqlClient, random: Random) =>
  Effect.gen(function* () {
    const model = new Model()
    const customers: Array<Customer> = []
    const budgetsOf = new Map<string, Array<string>>()
    for (const [index, keys] of [2, 1, 1].entries()) {
      const money = 100n + random.amount(200)
      const first = yield* customer(sql, money)
      customers.push(first)
      for (let more = 1; more < keys; more++) customers.push({ ...first, keyId: yield* addKey(sql, first.accountId) })
      model.balances.set(first.accountId, { posted: money, held: 0n })
      if (index < 2) {
        const play = 80n + random.amount(150)
        yield* run(sql, { ...credit(first, play), source: "play" })
        model.plays.set(first.accountId, { posted: play, held: 0n })
      }
      const scopes = ([["key", "project"], ["key"], []] as const)[index]!
      const ids: Array<string> = []
      for (const scope of scopes) {
        const limit = 60n + random.amount(200)
        const id = yield* addBudget(sql, first, scope, limit, random.pick(["daily", "lifetime"]))
        model.budgets.set(id, { accountId: first.accountId, scope, limit })
        ids.push(id)
      }
      budgetsOf.set(first.accountId, ids)
    }
    for (const { accountId, keyId } of customers) model.keys.set(keyId, { accountId, active: true, epoch: 0 })
    return { model, customers, budgetsOf } satisfies Scenario
  })

/** An expiry that the database's clock is past at once, now and then. */
const ttl = (random: Random, overdue: number) => (random.chance(overdue) ? -1_000 : 900_000)

export const randomHold = (
  scenario: Scenario,
  random: Random,
  overdue = 0.1,
  owner: Customer = random.pick(scenario.customers)
): HoldOperation => {
  const atLeast = random.chance(0.05) ? 0n : random.amount(50)
  const budgets = (scenario.budgetsOf.get(owner.accountId) ?? []).filter(() => random.chance(0.7))
  return hold(owner, atLeast, {
    upTo: atLeast + random.amount(40),
    ttlMs: ttl(random, overdue),
    budgets: budgets.map((id) => onDay(id, random.pick(["2026-01-01", "2026-01-02"]))),
    budgetsEpoch: (scenario.model.keys.get(owner.keyId)?.epoch ?? 0) - (random.chance(0.05) ? 1 : 0),
    claim: random.chance(0.3) ? claim(`key-${random.below(12)}`) : undefined,
    charge: random.chance(0.1),
    ...(random.chance(0.4) ? { simulated: true } : {})
  })
}

/** What follows a hold: anything that may, and some things that should not. */
const randomFollowUp = (scenario: Scenario, random: Random, before: HoldOperation): Operation => {
  // Now and then another's request is named.
  const held = random.chance(0.05) ? { ...before, accountId: random.pick(scenario.customers).accountId } : before
  const kind = random.next()
  if (kind < 0.3) {
    const known = scenario.model.requests.get(held.requestId)?.held ?? 0n
    const stale = known === 0n ? 0n : random.amount(Number(known))
    const operation = extend(held, random.chance(0.8) ? known : stale, random.amount(30), random.amount(50))
    return { ...operation, ttlMs: ttl(random, 0.2) }
  }
  if (kind < 0.7) {
    const cost = random.pick([undefined, null, random.amount(80), random.amount(80)])
    const settle = cost === undefined ? undefined : { cost }
    return close(held, undefined, { settle, onlyIfExpired: random.chance(0.15), keepClaim: random.chance(0.5) })
  }
  return refund(held, 1n + random.amount(30), `refund-${scenario.model.requests.size}-${random.below(3)}`)
}

/** One more operation, given those that went before. */
export const randomOperation = (scenario: Scenario, random: Random, past: ReadonlyArray<Operation>): Operation => {
  if (past.length > 0 && random.chance(0.05)) return random.pick(past)
  const kind = random.next()
  const holds = past.filter((op) => op._tag === "Hold")
  if (kind < 0.4 || holds.length === 0) return randomHold(scenario, random)
  if (kind < 0.48) {
    const reference = random.chance(0.5) ? `credit-${random.below(20)}` : null
    const to = random.pick(scenario.customers)
    const repeated = random.chance(0.6) ? `adjust-${random.below(4)}` : null
    if (random.chance(0.3)) return adjust(to, random.amount(80) - 60n || 1n, repeated, random.chance(0.5))
    return { ...credit(to, 1n + random.amount(60), reference), ...(random.chance(0.3) ? { source: "play" } : {}) }
  }
  return randomFollowUp(scenario, random, random.chance(0.7) ? random.pick(holds.slice(-12)) : random.pick(holds))
}

/** What is no operation of a group: a hold out of another one, or the conclusion of what may be a charge. */
export const randomPart = (
  scenario: Scenario,
  random: Random,
  past: ReadonlyArray<Operation>
): {
  readonly carve?: { readonly from: string; readonly hold: HoldOperation }
  readonly conclude?: ConcludeOperation
} => {
  const holds = past.filter((op) => op._tag === "Hold")
  const recent = random.chance(0.8) ? holds.slice(-20) : holds
  if (recent.length === 0) return {}
  if (random.chance(0.5)) {
    const open = recent.filter(({ requestId }) => scenario.model.requests.get(requestId)?.state === "open")
    const parent = random.pick(open.length > 0 && random.chance(0.9) ? open : recent)
    if (random.chance(0.1)) return { carve: { from: parent.requestId, hold: random.pick(recent) } }
    // Now and then another's.
    const owner = random.chance(0.9) ? parent : random.pick(scenario.customers)
    const child = randomHold(scenario, random, 0.1, owner)
    const known = scenario.model.requests.get(parent.requestId)
    const stale = random.chance(0.2) ? { budgetsEpoch: child.budgetsEpoch - 1 } : {}
    const kind = known?.play === true && random.chance(0.8) ? { simulated: true } : {}
    return { carve: { from: parent.requestId, hold: { ...child, ...stale, ...kind } } }
  }
  const charges = recent.filter(({ charge }) => charge)
  const charged = random.pick(charges.length > 0 && random.chance(0.9) ? charges : recent)
  const known = scenario.model.requests.get(charged.requestId)?.settled ?? 0n
  const named = random.chance(0.95) ? charged : { ...charged, accountId: random.pick(scenario.customers).accountId }
  return {
    conclude: conclusion(named, random.chance(0.3) ? known : random.amount(60), { keepClaim: random.chance(0.5) })
  }
}
