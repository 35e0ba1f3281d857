import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type BudgetPeriodName, periodStart } from "../domain/Budget.ts"
import { centsFromNano, maxNano, minNano, type Nano, NANO_PER_CENT } from "../domain/Money.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { type BudgetRow, budgetsById, budgetsOfKey, changeLimit, insertBudget } from "./BudgetsSql.ts"

/** The most that a budget may be, in cents: what is beyond it no account has, and all of it fits the books' integers. */
export const MAX_BUDGET_CENTS = 100_000_000_000

/** What a key or a project may spend in a period, which it or its account asks for. */
export interface BudgetWish {
  readonly accountId: string
  readonly owner: { readonly scope: "key" | "project"; readonly id: string }
  /** The one that it has. */
  readonly budgetId: string | null
  /** An integer from 0 to `MAX_BUDGET_CENTS`; null takes the budget away. */
  readonly limitCents: number | null
  readonly period: BudgetPeriodName
}

/** A budget in the period that runs. What running requests hold is neither spent nor remaining. Cents may have fractions. */
export interface BudgetState {
  readonly period: BudgetPeriodName
  readonly budgetCents: number
  readonly spentCents: number
  readonly remainingCents: number
}

/**
 * What keys and projects may spend in a day, a week, a month or ever, by UTC. The ledger counts towards budgets and enforces them;
 * here is decided what they are.
 */
export class Budgets extends Context.Service<
  Budgets,
  {
    /**
     * Answers the budget that the owner has from now on, whose row the caller writes it to (`budget_id`) in the same transaction.
     * What is spent in a period stays when its limit changes; another kind of period begins a new budget, of which nothing is
     * spent. Every hold that begins after the commit obeys it, on all nodes; what is held already stays as it was.
     */
    readonly set: (wish: BudgetWish) => Effect.Effect<string | null, SqlError.SqlError>
    /** By their ids, of which those of no budget are left out. */
    readonly statesOf: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, BudgetState>, Unavailable>
    /** What a hold that counts towards all of these may be at the most; undefined where there is none of them. */
    readonly roomIn: (ids: ReadonlyArray<string>) => Effect.Effect<Nano | undefined, Unavailable>
    /** Whether so much fits into all budgets that a key's requests count towards, once nothing else is held of them. */
    readonly fitsWhenFree: (keyId: string, amount: Nano) => Effect.Effect<boolean, Unavailable>
  }
>()("tollgate/account/Budgets") {
  static readonly layer = Layer.effect(
    Budgets,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const read = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
        if (ids.length === 0) return []
        return yield* budgetsById(sql, ids, startsAt(yield* Clock.currentTimeMillis))
      }, storeErrors)
      return Budgets.of({
        set: ({ accountId, budgetId, limitCents, owner: { id: ownerId, scope }, period }) =>
          Effect.gen(function* () {
            if (limitCents === null) return null
            const budget = { accountId, scope, period, limit: BigInt(limitCents) * NANO_PER_CENT }
            if (budgetId !== null && (yield* changeLimit(sql, { id: budgetId, ...budget }))) return budgetId
            const id = newResourceId()
            yield* insertBudget(sql, { id, ownerId, ...budget })
            return id
          }),
        statesOf: (ids) => Effect.map(read(ids), (rows) => new Map(rows.map((row) => [row.id, stateOf(row)]))),
        roomIn: (ids) =>
          Effect.map(read(ids), ([first, ...others]) => first && others.map(leftOf).reduce(minNano, leftOf(first))),
        fitsWhenFree: Effect.fnUntraced(function* (keyId, amount) {
          const rows = yield* budgetsOfKey(sql, keyId, startsAt(yield* Clock.currentTimeMillis))
          return rows.every(({ limit_nano, spent }) => limit_nano - spent >= amount)
        }, storeErrors)
      })
    })
  )
}

/** The days on which the periods that run have begun. */
const startsAt = (nowMs: number) => ({
  daily: periodStart("daily", nowMs),
  weekly: periodStart("weekly", nowMs),
  monthly: periodStart("monthly", nowMs),
  lifetime: periodStart("lifetime", nowMs)
})

const leftOf = ({ held, limit_nano, spent }: BudgetRow): Nano => maxNano(0n, limit_nano - spent - held)

const stateOf = (row: BudgetRow): BudgetState => ({
  period: row.period as BudgetPeriodName,
  budgetCents: centsFromNano(row.limit_nano),
  spentCents: centsFromNano(row.spent),
  remainingCents: centsFromNano(leftOf(row))
})
