import { Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { accountByEmail, type AccountRow, anyAccount, insertAccount, setLimitScale } from "./AccountsSql.ts"
import { type Actor, Audit } from "./Audit.ts"

/** An account with this address exists already. */
export class EmailTaken extends Data.TaggedError("EmailTaken")<{ readonly email: string }> {}

/** The paying accounts. A new account has an empty balance; only the ledger changes it. */
export class Accounts extends Context.Service<
  Accounts,
  {
    /**
     * `told` holds the ID for the account and the ID of the request that asked for it. Without it, the account gets a generated ID.
     */
    readonly create: (
      email: string,
      actor: Actor,
      told?: { readonly id: string; readonly requestId: string }
    ) => Effect.Effect<AccountRow, EmailTaken | Unavailable>
    /** Compares addresses without regard to case. */
    readonly findByEmail: (email: string) => Effect.Effect<AccountRow | undefined, Unavailable>
    readonly exist: Effect.Effect<boolean, Unavailable>
    /** Sets the factor that multiplies every rate limit of the account. It must be greater than 0. */
    readonly setLimitScale: (account: AccountRow, scale: number, actor: Actor) => Effect.Effect<void, Unavailable>
  }
>()("tollgate/account/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      return Accounts.of({
        create: (email, actor, told) => {
          const { id, ...request } = told ?? { id: newResourceId() }
          return insertAccount(sql, id, email).pipe(
            Effect.andThen(
              audit.append({
                accountId: id,
                ...{ type: "account.created", ...request },
                actor,
                resource: { type: "account", id },
                changes: { email }
              })
            ),
            sql.withTransaction,
            Effect.as({ id, email, limit_scale: 1 }),
            Effect.catchIf(
              (error) => error.reason._tag === "UniqueViolation",
              () => Effect.fail(new EmailTaken({ email }))
            ),
            storeErrors
          )
        },
        findByEmail: (email) => storeErrors(accountByEmail(sql, email)),
        exist: storeErrors(anyAccount(sql)),
        setLimitScale: (account, scale, actor) =>
          setLimitScale(sql, account.id, scale).pipe(
            Effect.andThen(
              audit.append({
                accountId: account.id,
                type: "account.limits_changed",
                actor,
                resource: { type: "account", id: account.id },
                changes: { limit_scale: { from: account.limit_scale, to: scale } }
              })
            ),
            sql.withTransaction,
            storeErrors
          )
      })
    })
  )
}
