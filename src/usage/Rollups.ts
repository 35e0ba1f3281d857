import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { firstRequestIdAt } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { rollUp, safeMoment, takePlace, type Taken } from "./RollupsSql.ts"

/** Rows of each kind in one step: some tenths of a second of the database's time. */
const STEP_ROWS = 5_000

const nothing: Taken = { rows: 0, full: false }

/**
 * Sums of the ledger's request rows by hour and by day, of which the use of an account is read. Every request that has ended is
 * in them once or, until it is, told by its row; so what is read is right at any moment, whoever dies.
 */
export class Rollups extends Context.Service<
  Rollups,
  {
    /**
     * Takes the next requests that may be taken, a bounded number of them; `full` says that there may be more. Takes nothing
     * while another process is at it.
     */
    readonly step: Effect.Effect<Taken, Unavailable>
  }
>()("tollgate/usage/Rollups") {
  /** With so many rows of each kind in a step. */
  static readonly layerOf = (rows: number) =>
    Layer.effect(
      Rollups,
      Effect.map(SqlClient.SqlClient, (sql) =>
        Rollups.of({
          step: Effect.gen(function* () {
            if (!(yield* takePlace(sql))) return nothing
            const safeMs = yield* safeMoment(sql)
            return yield* rollUp(sql, { before: safeMs === undefined ? "" : firstRequestIdAt(safeMs), limit: rows })
          }).pipe(sql.withTransaction, storeErrors)
        })
      )
    )

  static readonly layer = this.layerOf(STEP_ROWS)
}
