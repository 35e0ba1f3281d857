import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { firstRequestIdAt } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { rollUp, safeMoment, tryLockRollups, type RollupStep } from "./RollupsSql.ts"

/** The maximum number of rows of each kind per step. A step takes some tenths of a second of database time. */
const STEP_ROWS = 5_000

const nothing: RollupStep = { rows: 0, full: false }

/**
 * Sums of request rows by hour and by day, from which usage is read. Every ended request is either in the sums, once, or still read
 * from its row. So usage is correct at every moment, whichever process dies.
 */
export class Rollups extends Context.Service<
  Rollups,
  {
    /**
     * Counts the next requests that are ready, a bounded number of them. `full` means that there may be more. Does nothing while
     * another process is counting.
     */
    readonly step: Effect.Effect<RollupStep, Unavailable>
  }
>()("tollgate/usage/Rollups") {
  /** Uses this many rows of each kind per step. */
  static readonly layerOf = (rows: number) =>
    Layer.effect(
      Rollups,
      Effect.map(SqlClient.SqlClient, (sql) =>
        Rollups.of({
          step: Effect.gen(function* () {
            if (!(yield* tryLockRollups(sql))) return nothing
            const safeMs = yield* safeMoment(sql)
            return yield* rollUp(sql, { before: safeMs === undefined ? "" : firstRequestIdAt(safeMs), limit: rows })
          }).pipe(sql.withTransaction, storeErrors)
        })
      )
    )

  static readonly layer = this.layerOf(STEP_ROWS)
}
