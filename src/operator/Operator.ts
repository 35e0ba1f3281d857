import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { periodStart } from "../domain/Budget.ts"
import { DAY_MS } from "../domain/Day.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import { timeOfRequestId } from "../platform/Ids.ts"
import { type Page, readPage } from "../platform/database/Page.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { requestById, requestReplayedBy, type RequestRow } from "../usage/RequestsSql.ts"
import { usageOf } from "../usage/UsageSql.ts"
import {
  type AccountCounts,
  type AccountLine,
  accountNamed,
  type AccountSearch,
  accountsMatching,
  type AnyRow,
  type AnySearch,
  type BudgetLine,
  budgetsOf,
  type ChangeLine,
  changesByOperators,
  countsOf,
  examinedTo,
  type KeyLine,
  keysOfAccount,
  type Movement,
  movementsFor,
  ownerOfRequest,
  type RequestLine,
  type RequestSearch,
  requestsMatching,
  requestsOfAll,
  type TopUpLine,
  topUpOfAny,
  topUpsOfAccount,
  topUpsToSee
} from "./OperatorSql.ts"

/** The days of an account's recent spending, today included. */
export const SPENT_DAYS = 30

/** What an operator wants to know about an account first. */
export interface Overview {
  readonly counts: AccountCounts
  readonly budgets: ReadonlyArray<BudgetLine>
  /** Charges less refunds in `SPENT_DAYS` days, in nano-USD. */
  readonly spent: bigint
}

/** A request of any account, the address of its owner, and its movements of money. */
export interface AnyRequest {
  readonly row: RequestRow
  readonly email: string
  readonly movements: ReadonlyArray<Movement>
}

/** Where a page begins, and its size. */
export interface PageRequest {
  /** The page continues with what is older than this; null begins with the newest. */
  readonly after: string | null
  readonly limit: number
}

/** A page of the requests of all accounts. */
export interface AnyPage extends Page<AnyRow> {
  /** When the oldest request that it examined arrived, in milliseconds since 1970; null when it examined all of them. */
  readonly searchedToMs: number | null
}

type Lookup<A> = Effect.Effect<A, Failure | Unavailable>

/** Reads what operators see: every account, its keys and its requests. The command line and the endpoints both use it. */
export class Operator extends Context.Service<
  Operator,
  {
    /** Fails with `NotFound` when the page continues after an account that does not exist. */
    readonly accounts: (search: AccountSearch) => Lookup<Page<AccountLine>>
    /** Returns the account with this ID or email address. Fails with `NotFound`. */
    readonly account: (name: string) => Lookup<AccountLine>
    readonly overview: (accountId: string) => Effect.Effect<Overview, Unavailable>
    /** Returns the account's keys of both kinds. */
    readonly keys: (accountId: string, page: PageRequest) => Effect.Effect<Page<KeyLine>, Unavailable>
    readonly requests: (accountId: string, search: RequestSearch) => Effect.Effect<Page<RequestLine>, Unavailable>
    /** Returns the request with this ID, or the request that a replay with this ID repeated. Fails with `NotFound`. */
    readonly request: (id: string) => Lookup<AnyRequest>
    /** Returns the requests of all accounts. A page examines a bounded number of them, so it may be short and have a next page. */
    readonly anyRequests: (search: AnySearch) => Effect.Effect<AnyPage, Unavailable>
    /** Returns top-ups that need an operator. */
    readonly topUps: (page: PageRequest) => Effect.Effect<Page<TopUpLine>, Unavailable>
    /** Returns the top-ups of an account. */
    readonly topUpsOf: (accountId: string, page: PageRequest) => Effect.Effect<Page<TopUpLine>, Unavailable>
    /** Returns a top-up of any account. Fails with `NotFound`. */
    readonly topUp: (id: string) => Lookup<TopUpLine>
    /** Returns what operators changed, in accounts and elsewhere. */
    readonly changes: (page: PageRequest) => Effect.Effect<Page<ChangeLine>, Unavailable>
  }
>()("tollgate/operator/Operator") {
  static readonly layer = Layer.effect(
    Operator,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Operator.of({
        accounts: (search) =>
          Effect.gen(function* () {
            if (search.after !== null) yield* findAccount(sql, search.after)
            return yield* storeErrors(readPage(search, (page) => accountsMatching(sql, page)))
          }),
        account: (name) => findAccount(sql, name),
        overview: (accountId) => overviewOf(sql, accountId),
        keys: (accountId, page) => storeErrors(readPage(page, (one) => keysOfAccount(sql, accountId, one))),
        requests: (accountId, search) => storeErrors(readPage(search, (one) => requestsMatching(sql, accountId, one))),
        request: (id) => anyRequest(sql, id),
        anyRequests: (search) => storeErrors(anyRequests(sql, search)),
        topUps: (page) => storeErrors(readPage(page, (one) => topUpsToSee(sql, one))),
        topUpsOf: (accountId, page) => storeErrors(readPage(page, (one) => topUpsOfAccount(sql, accountId, one))),
        topUp: (id) =>
          Effect.flatMap(storeErrors(topUpOfAny(sql, id)), (found) =>
            found === undefined ? Effect.fail(failure({ _tag: "NotFound", what: "top-up", id })) : Effect.succeed(found)
          ),
        changes: (page) => storeErrors(readPage(page, (one) => changesByOperators(sql, one)))
      })
    )
  )
}

const findAccount = (sql: SqlClient.SqlClient, name: string): Lookup<AccountLine> =>
  Effect.flatMap(storeErrors(accountNamed(sql, name)), (found) =>
    found === undefined ? Effect.fail(failure({ _tag: "NotFound", what: "account", id: name })) : Effect.succeed(found)
  )

const anyRequests = (sql: SqlClient.SqlClient, search: AnySearch) =>
  Effect.gen(function* () {
    const { next, rows } = yield* readPage(search, (page) => requestsOfAll(sql, page))
    const bound = next ?? (yield* examinedTo(sql, search.after)) ?? null
    return { rows, next: bound, searchedToMs: bound === null ? null : timeOfRequestId(bound) }
  })

const overviewOf = (sql: SqlClient.SqlClient, accountId: string): Effect.Effect<Overview, Unavailable> =>
  Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const starts = {
      daily: periodStart("daily", nowMs),
      weekly: periodStart("weekly", nowMs),
      monthly: periodStart("monthly", nowMs),
      lifetime: periodStart("lifetime", nowMs)
    }
    // Today and the days before it, because rollups are sums of whole days.
    const since = new Date((Math.floor(nowMs / DAY_MS) - SPENT_DAYS + 1) * DAY_MS)
    const usage = yield* usageOf(sql, accountId, { since, width: "day" })
    return {
      counts: yield* countsOf(sql, accountId),
      budgets: yield* budgetsOf(sql, accountId, starts),
      spent: usage.reduce((sum, { cost }) => sum + cost, 0n)
    }
  }).pipe(storeErrors)

const anyRequest = (sql: SqlClient.SqlClient, id: string): Lookup<AnyRequest> =>
  Effect.gen(function* () {
    const missing = failure({ _tag: "NotFound", what: "request", id })
    const owner = yield* ownerOfRequest(sql, id)
    if (owner === undefined) return yield* missing
    const { account_id: accountId, email } = owner
    const row = (yield* requestById(sql, accountId, id)) ?? (yield* requestReplayedBy(sql, accountId, id))
    if (row === undefined) return yield* missing
    return { row, email, movements: yield* movementsFor(sql, accountId, row.id) }
  }).pipe(storeErrors)
