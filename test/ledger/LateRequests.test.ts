import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { commitGroup } from "../../src/ledger/LedgerSql.ts"
import type { HoldOperation } from "../../src/ledger/Operation.ts"
import { commitPlain } from "../../src/ledger/PlainSql.ts"
import { firstRequestIdAt, newRequestId } from "../../src/platform/Ids.ts"
import { type Customer, close, customer, hold } from "./Fixture.ts"
import * as Database from "../support/Database.ts"

const GRACE_MS = 30_000

const idAt = (ms: number): string => firstRequestIdAt(ms).slice(0, 14) + newRequestId().slice(14)

/** Moments that requests can say they arrived at, with each digit of an id's time at each of its values. */
const momentsAround = (now: number): ReadonlyArray<number> => {
  const bound = now - GRACE_MS
  // As far as the past and the future of a request can reach.
  const powers = Array.from({ length: 9 }, (_, power) => 32 ** power)
  const moments = powers.flatMap((unit) => Array.from({ length: 65 }, (_, by) => bound + (by - 32) * unit))
  const near = [-2_000, -1_000, 10_000, 20_000].map((by) => bound + by)
  return [...new Set([...moments, ...near])].filter(
    // What lies about the bound depends on how long this takes.
    (moment) => moment >= 0 && moment < 32 ** 9 && (moment < bound || moment > bound + 9_000)
  )
}

/** Carries out operations that the statement in which all rules stand is not asked for. */
const unjudged = (sql: SqlClient.SqlClient, holds: ReadonlyArray<HoldOperation>) =>
  Effect.map(commitPlain(sql, holds), (results) => assert.lengthOf(results ?? [], holds.length))

interface Way {
  readonly how: string
  readonly commit: (
    sql: SqlClient.SqlClient,
    holds: ReadonlyArray<HoldOperation>,
    other: Customer
  ) => Effect.Effect<unknown, unknown>
}

const ways: ReadonlyArray<Way> = [
  {
    how: "alone",
    commit: (sql, holds) => Effect.forEach(holds, (one) => unjudged(sql, [one]), { discard: true })
  },
  { how: "in a plain group", commit: unjudged },
  {
    how: "judged",
    // One of another account lets the whole group be judged. Neither what is refused nor what ends is written late.
    commit: (sql, holds, other) =>
      Effect.gen(function* () {
        const [old, dear] = [hold(other, 0n), hold(other, 1n)].map((op) => ({ ...op, requestId: idAt(0) }))
        yield* sql`INSERT INTO request (id, account_id, key_id, operation, model, state, status, expires_at, held, opened)
          VALUES (${old!.requestId}, ${other.accountId}, ${other.keyId}, 'o', 'm', 'open', 'open', now() + interval '1 hour', 0, '{}')`
        const results = yield* commitGroup(sql, [...holds, dear!, close(old!, undefined)])
        assert.deepStrictEqual(
          results.slice(-2).map(({ _tag }) => _tag),
          ["Refused", "Closed"]
        )
      })
  }
]

layer(Database.layer, { excludeTestServices: true })("a request", (it) => {
  for (const { commit, how } of ways) {
    it.effect(`is late by the time in its id when it is held ${how}`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [owner, other] = [yield* customer(sql, 0n), yield* customer(sql, 0n)]
        const [clock] = yield* sql<{ now: number }>`SELECT date_part('epoch', clock_timestamp()) * 1000 AS now`
        const now = Math.floor(clock?.now ?? 0)
        const held = momentsAround(now).map((ms) => ({ ms, op: { ...hold(owner, 0n), requestId: idAt(ms) } }))
        yield* commit(
          sql,
          held.map(({ op }) => op),
          other
        )
        const [written] = yield* sql<{ count: bigint }>`SELECT count(*) AS count FROM request
          WHERE account_id = ${owner.accountId}`
        assert.strictEqual(written?.count, BigInt(held.length))
        const expected = held.filter(({ ms }) => ms < now - GRACE_MS).map(({ op }) => op.requestId)
        assert.isAtLeast(expected.length, 200)
        assert.isAtLeast(held.length - expected.length, 200)
        const late = yield* sql<{ account: string; id: string }>`SELECT account_id AS account, request_id AS id
          FROM usage_pending WHERE account_id IN (${owner.accountId}, ${other.accountId})`
        assert.deepStrictEqual(
          late.toSorted((one, another) => (one.id < another.id ? -1 : 1)),
          expected.toSorted().map((id) => ({ account: owner.accountId, id }))
        )
      })
    )
  }
})
