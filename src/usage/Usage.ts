import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import type { KeysOf, KeysPage } from "../account/KeysSql.ts"
import { periodStart } from "../domain/Budget.ts"
import { DAY_MS } from "../domain/Day.ts"
import type { Failure } from "../domain/Failure.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { UsageReads } from "./UsageReads.ts"
import {
  type Credits,
  creditsOf,
  keyFacts,
  type KeyFacts,
  keySpend,
  type KeySpend,
  type KeyTotal,
  keyTotals,
  keyTotalsOfPage,
  usageOf,
  type UsageRow
} from "./UsageSql.ts"

const HOUR_MS = 3_600_000

/** The number and width of the buckets of each period. The last bucket is the current one. */
const periods = {
  "1d": { width: "hour", buckets: 24, bucketMs: HOUR_MS },
  "7d": { width: "day", buckets: 7, bucketMs: DAY_MS },
  "30d": { width: "day", buckets: 30, bucketMs: DAY_MS }
} as const

export type UsagePeriod = keyof typeof periods

/** An account's usage in a period. Each row belongs to one bucket; buckets without usage have no rows. */
export interface AccountUsage {
  readonly fromMs: number
  /** The end of the current bucket. */
  readonly untilMs: number
  readonly bucketMs: number
  readonly rows: ReadonlyArray<UsageRow>
}

export interface KeyUsage {
  readonly facts: KeyFacts
  readonly spend: KeySpend
}

const byKey = (
  totals: Effect.Effect<ReadonlyArray<KeyTotal>, SqlError.SqlError>
): Effect.Effect<ReadonlyMap<string, KeyTotal>, Unavailable> =>
  storeErrors(Effect.map(totals, (rows) => new Map(rows.map((row) => [row.key_id, row]))))

/**
 * Usage and its cost, per account and per key. It combines rollups of the past with request rows for the rest, and is complete up
 * to this moment.
 */
export class Usage extends Context.Service<
  Usage,
  {
    /** Fails as `UsageReads` does. */
    readonly ofAccount: (accountId: string, period: UsagePeriod) => Effect.Effect<AccountUsage, Failure | Unavailable>
    /** Returns the account's balance and its usage since it was opened. Fails as `UsageReads` does. */
    readonly credits: (accountId: string) => Effect.Effect<Credits, Failure | Unavailable>
    /** Returns a key of the account with its spending; undefined when there is no such key. */
    readonly ofKey: (key: {
      readonly accountId: string
      readonly keyId: string
    }) => Effect.Effect<KeyUsage | undefined, Unavailable>
    /** Returns the total usage of the account's keys by ID, without unused keys. */
    readonly ofKeys: (
      accountId: string,
      keyIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, KeyTotal>, Unavailable>
    /** Returns the total usage of a page of the account's keys by ID, without a separate read of which keys the page contains. */
    readonly ofKeysPage: (of: KeysOf, page: KeysPage) => Effect.Effect<ReadonlyMap<string, KeyTotal>, Unavailable>
  }
>()("tollgate/usage/Usage") {
  static readonly layer = Layer.effect(
    Usage,
    Effect.gen(function* () {
      const [sql, reads] = [yield* SqlClient.SqlClient, yield* UsageReads]
      return Usage.of({
        ofAccount: Effect.fnUntraced(function* (accountId, period) {
          const { bucketMs, buckets, width } = periods[period]
          const running = Math.floor((yield* Clock.currentTimeMillis) / bucketMs)
          const fromMs = (running - buckets + 1) * bucketMs
          const rows = yield* reads.read(accountId, usageOf(sql, accountId, { since: new Date(fromMs), width }))
          return { fromMs, untilMs: (running + 1) * bucketMs, bucketMs, rows }
        }, storeErrors),
        credits: (accountId) =>
          storeErrors(
            Effect.map(reads.read(accountId, creditsOf(sql, accountId)), (found) => found ?? { posted: 0n, used: 0n })
          ),
        ofKey: Effect.fnUntraced(function* ({ accountId, keyId }) {
          const nowMs = yield* Clock.currentTimeMillis
          const facts = yield* keyFacts(sql, keyId)
          if (facts === undefined) return undefined
          const spend = yield* keySpend(
            sql,
            { accountId, keyId },
            {
              today: periodStart("daily", nowMs),
              week: periodStart("weekly", nowMs),
              month: periodStart("monthly", nowMs)
            }
          )
          return { facts, spend }
        }, storeErrors),
        ofKeys: (accountId, keyIds) => byKey(keyTotals(sql, accountId, keyIds)),
        ofKeysPage: (of, page) => byKey(keyTotalsOfPage(sql, of, page))
      })
    })
  )
}
