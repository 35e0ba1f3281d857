import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type BudgetPeriodName, periodStart } from "../domain/Budget.ts"
import { centsFromNano, maxNano, minNano, type Nano, NANO_PER_CENT } from "../domain/Money.ts"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { type BudgetRow, budgetsById, budgetsOfKey, changeLimit, insertBudget } from "./BudgetsSql.ts"

/** The largest budget, in cents. No account holds more, and the value in nano-USD fits the ledger's 64-bit integers. */
export const MAX_BUDGET_CENTS = 100_000_000_000

/** A requested budget for a key or a project. */
export interface BudgetSettings {
  readonly accountId: string
  readonly owner: { readonly scope: "key" | "project"; readonly id: string }
  /** The ID of the owner's current budget. */
  readonly budgetId: string | null
  /** An integer from 0 to `MAX_BUDGET_CENTS`; null removes the budget. */
  readonly limitCents: number | null
  readonly period: BudgetPeriodName
}

/** A budget in the current period. Amounts held by running requests are neither spent nor remaining. Cents may have fractions. */
export interface BudgetState {
  readonly period: BudgetPeriodName
  readonly budgetCents: number
  readonly spentCents: number
  readonly remainingCents: number
}

/**
 * The spending limits of keys and projects per day, week, month or lifetime, in UTC. This service sets them; the ledger counts
 * spending toward them and enforces them.
 */
export class Budgets extends Context.Service<
  Budgets,
  {
    /**
     * Returns the ID of the owner's new or changed budget. The caller writes it to the owner's `budget_id` in the same transaction.
     * A new limit keeps the spending of the current period. A new kind of period starts a new budget with nothing spent. Every hold
     * opened after the commit obeys the limit, on all nodes; existing holds do not change.
     */
    readonly set: (settings: BudgetSettings) => Effect.Effect<string | null, SqlError.SqlError>
    /** Returns budget states by ID and leaves out unknown IDs. */
    readonly statesOf: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, BudgetState>, Unavailable>
    /** Returns the largest hold that fits all of these budgets; undefined when none of them exists. */
    readonly roomIn: (ids: ReadonlyArray<string>) => Effect.Effect<Nano | undefined, Unavailable>
    /** Reports whether the amount would fit all budgets of a key if no other request held anything. */
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
          Effect.map(
            read(ids),
            ([first, ...others]) => first && others.map(remainingOf).reduce(minNano, remainingOf(first))
          ),
        fitsWhenFree: Effect.fnUntraced(function* (keyId, amount) {
          const rows = yield* budgetsOfKey(sql, keyId, startsAt(yield* Clock.currentTimeMillis))
          return rows.every(({ limit_nano, spent }) => limit_nano - spent >= amount)
        }, storeErrors)
      })
    })
  )
}

/** Returns the start dates of the current periods. */
const startsAt = (nowMs: number) => ({
  daily: periodStart("daily", nowMs),
  weekly: periodStart("weekly", nowMs),
  monthly: periodStart("monthly", nowMs),
  lifetime: periodStart("lifetime", nowMs)
})

const remainingOf = ({ held, limit_nano, spent }: BudgetRow): Nano => maxNano(0n, limit_nano - spent - held)

const stateOf = (row: BudgetRow): BudgetState => ({
  period: row.period as BudgetPeriodName,
  budgetCents: centsFromNano(row.limit_nano),
  spentCents: centsFromNano(row.spent),
  remainingCents: centsFromNano(remainingOf(row))
})
