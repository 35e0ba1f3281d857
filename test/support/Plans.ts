/** How statements are planned. */
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

export interface Plan {
  readonly Plans?: ReadonlyArray<Plan>
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Index Cond"?: string
}

/** A plan and all that it is made of. */
export const nodesOf = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

type Explained = ReadonlyArray<{ "QUERY PLAN": ReadonlyArray<{ Plan: Plan }> }>

/** The plan of a statement that has not been run, made for its parameters. */
export const planOf = (sql: SqlClient.SqlClient, statement: Effect.Effect<unknown, SqlError.SqlError>) => {
  const [text, parameters] = (statement as Statement.Statement<unknown>).compile()
  return Effect.map(
    sql.unsafe(`EXPLAIN (FORMAT JSON) ${text}`, parameters),
    (rows) => (rows as unknown as Explained)[0]!["QUERY PLAN"][0]!.Plan
  )
}

/** The plan made for any parameters, as a connection keeps it sooner or later, of a statement that has not been run. */
export const genericPlan = (sql: SqlClient.SqlClient, statement: Effect.Effect<unknown, SqlError.SqlError>) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const [text, parameters] = (statement as Statement.Statement<unknown>).compile()
      yield* sql`SET LOCAL plan_cache_mode = force_generic_plan`
      yield* sql.unsafe(`PREPARE planned AS ${text}`)
      const execute = `EXECUTE planned (${parameters.map(() => "NULL").join(", ")})`
      const [explained] = yield* sql.unsafe<Explained[number]>(`EXPLAIN (FORMAT JSON) ${execute}`)
      yield* sql`DEALLOCATE planned`
      return explained!["QUERY PLAN"][0]!.Plan
    })
  )
