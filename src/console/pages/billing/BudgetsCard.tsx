import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { keysQuery, projectsQuery } from "../../data/Queries.ts"
import { Meter } from "../../parts/Meter.tsx"
import { Empty, SkeletonRows } from "../../parts/States.tsx"

interface Budgeted {
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

const budgetsOf = (sources: ReadonlyArray<Source>, of: Budgeted["of"]): ReadonlyArray<Budgeted> =>
  sources.flatMap(({ budget_cents: budget, budget_period: period, id, name, spent_cents: spent, status }) =>
    budget === null || status !== "active" ? [] : [{ id, name, of, budget, spent: spent ?? 0, period }]
  )

const shareOf = ({ budget, spent }: Budgeted): number => (budget === 0 ? 1 : spent / budget)

/** The budgets of keys and projects, the fullest first, and how to be told when they fill. */
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
          <Empty title="The budgets could not be read." />
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
            You get an email when 80% and 100% of a budget are spent and when the balance falls below $5.00, unless you
            declined it in <Link to="/settings">Settings</Link>. A <Link to="/webhooks">webhook</Link> for{" "}
            <code>budget.threshold</code> tells a program. Below $5.00, answers carry a <code>low_balance</code>{" "}
            warning.
          </p>
        </div>
      )}
    </section>
  )
}
