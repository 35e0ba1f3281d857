import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { type Actor, Audit } from "./Audit.ts"
import { billingDetailsOf, type BillingDetailsRow, lockBillingDetails, setBillingDetails } from "./BillingDetailsSql.ts"
import { differences } from "./Differences.ts"

/** A change of an account's details. Absent fields stay as they are. */
export interface DetailsChange {
  readonly accountId: string
  readonly actor: Actor
  readonly change: Partial<BillingDetailsRow>
}

/** The company behind each account, as its statements name it: name, postal address and tax id. */
export class BillingDetails extends Context.Service<
  BillingDetails,
  {
    readonly of: (accountId: string) => Effect.Effect<BillingDetailsRow, Unavailable>
    /** Changes details in the caller's transaction and writes what changed into the audit log. */
    readonly change: (change: DetailsChange) => Effect.Effect<BillingDetailsRow, SqlError.SqlError>
  }
>()("tollgate/account/BillingDetails") {
  static readonly layer = Layer.effect(
    BillingDetails,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      return BillingDetails.of({
        of: (accountId) => storeErrors(billingDetailsOf(sql, accountId)),
        change: ({ accountId, actor, change }) =>
          Effect.gen(function* () {
            yield* lockBillingDetails(sql, accountId)
            const before = yield* billingDetailsOf(sql, accountId)
            const after = { ...before, ...change }
            yield* setBillingDetails(sql, accountId, after)
            yield* audit.append({
              accountId,
              actor,
              type: "billing_details.changed",
              resource: { type: "account", id: accountId },
              changes: differences(before, after)
            })
            return after
          })
      })
    })
  )
}
