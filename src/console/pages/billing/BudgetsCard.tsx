import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { LOW_BALANCE_USD } from "../../data/Amounts.ts"
import { keysQuery, projectsQuery } from "../../data/Queries.ts"
import { money } from "../../format/Money.ts"
import { Meter } from "../../parts/Meter.tsx"
import { Failed, SkeletonRows } from "../../parts/States.tsx"

interface BudgetRow {
  readonly id: string
  readonly name: string
  readonly of: "Key" | "Project"
  readonly budget: number
  readonly spent: number
  readonly period: string | null
}

interface Source {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly budget_cents: number | null
  readonly budget_period: string | null
  readonly spent_cents: number | null
}

const budgetsOf = (sources: ReadonlyArray<Source>, of: BudgetRow["of"]): ReadonlyArray<BudgetRow> =>
  sources.flatMap(({ budget_cents: budget, budget_period: period, id, name, spent_cents: spent, status }) =>
    budget === null || status !== "active" ? [] : [{ id, name, of, budget, spent: spent ?? 0, period }]
  )

const shareOf = ({ budget, spent }: BudgetRow): number => (budget === 0 ? 1 : spent / budget)

/** The budgets of keys and projects, the most spent first, and their notifications. */
export const BudgetsCard = () => {
  const [keys, projects] = [useQuery(keysQuery), useQuery(projectsQuery)]
  const isRead = keys.data !== undefined && projects.data !== undefined
  const budgets = [...budgetsOf(projects.data ?? [], "Project"), ...budgetsOf(keys.data ?? [], "Key")].toSorted(
    (one, other) => shareOf(other) - shareOf(one)
  )
  return (
    <section className="card" aria-label="Budgets and alerts">
      <header>
        <h2>Budgets and alerts</h2>
      </header>
      {!isRead ? (
        keys.isError || projects.isError ? (
          <Failed
            error={keys.error ?? projects.error}
            onRetry={() => void Promise.all([keys.refetch(), projects.refetch()])}
          />
        ) : (
          <SkeletonRows rows={3} />
        )
      ) : (
        <div className="body grid">
          {budgets.map((one) => (
            <div key={one.id} className="grid budget-of">
              <Link className="clip" to={one.of === "Key" ? "/keys" : "/projects"}>
                {one.name} <span className="muted small">{one.of.toLowerCase()}</span>
              </Link>
              <Meter spentCents={one.spent} budgetCents={one.budget} period={one.period} />
            </div>
          ))}
          <p className="muted small">
            {budgets.length === 0 ? "No key and no project has a budget. " : ""}
            The gateway sends an email when 80% and 100% of a budget are spent, and when the balance falls below{" "}
            {money(LOW_BALANCE_USD)}. Choose these emails in <Link to="/settings">Settings</Link>. A{" "}
            <Link to="/webhooks">webhook</Link> for <code>budget.threshold</code> notifies your programs. Below{" "}
            {money(LOW_BALANCE_USD)}, responses carry a <code>low_balance</code> warning.
          </p>
        </div>
      )}
    </section>
  )
}
