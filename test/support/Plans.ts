/** Reads PostgreSQL's plans of statements. */
import { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"

/** A node of a plan, in PostgreSQL's JSON form. */
export interface Plan {
  readonly Plans?: ReadonlyArray<Plan>
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Index Cond"?: string
}

/** A node and all nodes below it. */
export const nodesOf = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

type Explained = ReadonlyArray<{ "QUERY PLAN": ReadonlyArray<{ Plan: Plan }> }>

/** The plan of a statement for its parameters. The statement does not run. */
export const planOf = (sql: SqlClient.SqlClient, statement: Effect.Effect<unknown, SqlError.SqlError>) => {
  const [text, parameters] = (statement as Statement.Statement<unknown>).compile()
  return Effect.map(
    sql.unsafe(`EXPLAIN (FORMAT JSON) ${text}`, parameters),
    (rows) => (rows as unknown as Explained)[0]!["QUERY PLAN"][0]!.Plan
  )
}

/** The plan of a statement for any parameters, which a connection eventually caches. The statement does not run. */
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
