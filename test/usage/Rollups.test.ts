import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Ledger } from "../../src/ledger/Ledger.ts"
import type { HoldOperation } from "../../src/ledger/Operation.ts"
import { firstRequestIdAt, newRequestId } from "../../src/platform/Ids.ts"
import { marginsOf } from "../../src/usage/MarginsSql.ts"
import { Rollups } from "../../src/usage/Rollups.ts"
import { keyTotals, usageOf, type UsageRow } from "../../src/usage/UsageSql.ts"
import {
  addKey,
  close,
  conclusion,
  type Customer,
  customer,
  extend,
  hold,
  newClient,
  refund,
  twoNodes,
  wrongs
} from "../ledger/Fixture.ts"
import { Random, seeds } from "../ledger/Random.ts"

/** Of the history: far less than that of the product, so that much comes late and much is taken while it runs. */
const GRACE_MS = 20

const since = new Date(0)
const widths = ["hour", "day"] as const

type Figures = Omit<UsageRow, "start"> & { readonly start: string }

const plain = (rows: ReadonlyArray<UsageRow>): ReadonlyArray<Figures> =>
  rows.map(({ start, ...rest }) => ({ ...rest, start: start.toISOString() }))

/** The same from the receipts alone. */
const receiptsOf = (sql: SqlClient.SqlClient, accountId: string, width: string) =>
  sql<UsageRow>`SELECT date_trunc(${width}, created_at, 'UTC') AS start, COALESCE(resolved_model, model) AS model, provider,
      count(*) AS requests,
      COALESCE(sum((closed #>> '{usage,input}')::bigint), 0)::bigint
        + COALESCE(sum((closed #>> '{usage,cached}')::bigint), 0)::bigint
        + COALESCE(sum((closed #>> '{usage,cacheWrite}')::bigint), 0)::bigint AS prompt,
      COALESCE(sum((closed #>> '{usage,cached}')::bigint), 0)::bigint AS cached,
      COALESCE(sum((closed #>> '{usage,cacheWrite}')::bigint), 0)::bigint AS cache_write,
      COALESCE(sum((closed #>> '{usage,output}')::bigint), 0)::bigint AS completion,
      COALESCE(sum((closed #>> '{usage,reasoning}')::bigint), 0)::bigint AS reasoning,
      sum(settled - refunded)::bigint AS cost
    FROM request WHERE account_id = ${accountId} AND closed IS NOT NULL
    GROUP BY 1, 2, 3 ORDER BY 1, COALESCE(resolved_model, model) COLLATE "C", provider COLLATE "C"`

/** What is told of each key, and what its receipts say; of those whose requests have not ended, when they were made. */
const compareKeys = (sql: SqlClient.SqlClient, accountId: string) =>
  Effect.gen(function* () {
    const said = yield* sql<{ key_id: string; cost: bigint; used_at: Date }>`SELECT key_id, max(created_at) AS used_at,
        COALESCE(sum(settled - refunded) FILTER (WHERE closed IS NOT NULL), 0)::bigint AS cost
      FROM request WHERE account_id = ${accountId} GROUP BY key_id ORDER BY key_id`
    const ids = said.map(({ key_id: id }) => id)
    const totals = yield* keyTotals(sql, accountId, ids)
    assert.deepStrictEqual(
      totals.toSorted((one, other) => (one.key_id < other.key_id ? -1 : 1)),
      said.map(({ cost, key_id, used_at }) => ({ key_id, cost, used_at }))
    )
  })

/** What the report says that an account's requests earned and cost, and what its receipts say. */
const compareMargins = (sql: SqlClient.SqlClient, accountId: string) =>
  Effect.gen(function* () {
    const said = yield* sql`WITH own AS (
        SELECT *, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day FROM request
        WHERE account_id = ${accountId} AND closed IS NOT NULL
      ), fact AS (
        SELECT day, COALESCE(resolved_model, model) AS model, COALESCE(provider, '') AS provider, 1 AS requests,
          settled - refunded AS revenue, COALESCE((closed ->> 'providerCost')::bigint, 0) AS provider_cost, 0 AS attempt_cost,
          (settled > 0 AND closed ->> 'providerCost' IS NULL)::int AS uncosted, absorbed FROM own
        UNION ALL SELECT day, a ->> 'model', a ->> 'provider', 0, 0, 0, (a ->> 'nano')::bigint, 0, 0
          FROM own CROSS JOIN LATERAL jsonb_array_elements(closed -> 'attemptCosts') AS a
      )
      SELECT day, model COLLATE "C" AS model, provider COLLATE "C" AS provider, sum(requests)::bigint AS requests,
        sum(revenue)::bigint AS revenue, sum(provider_cost)::bigint AS provider_cost, sum(attempt_cost)::bigint AS attempt_cost,
        sum(uncosted)::bigint AS uncosted, sum(absorbed)::bigint AS absorbed
      FROM fact GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`
    const margins = yield* marginsOf(sql, {
      accountId,
      play: false,
      from: "2000-01-01",
      until: "2100-01-01",
      by: ["day", "model", "provider"],
      after: undefined,
      limit: 1_000
    })
    assert.deepStrictEqual(
      margins.slice(0, -1).map(({ account: _account, email: _email, summary: _summary, ...row }) => row as object),
      said.map((row) => ({ ...row }))
    )
    const sum = (name: "attempt_cost" | "revenue" | "provider_cost") =>
      margins.slice(0, -1).reduce((total, row) => total + row[name], 0n)
    assert.deepInclude(margins.at(-1), {
      revenue: sum("revenue"),
      provider_cost: sum("provider_cost"),
      attempt_cost: sum("attempt_cost")
    })
  })

/** What is told of an account and what its receipts say, at one moment. */
const compare = (sql: SqlClient.SqlClient, accountId: string) =>
  Effect.gen(function* () {
    yield* sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`
    for (const width of widths) {
      const usage = yield* usageOf(sql, accountId, { since, width })
      assert.deepStrictEqual(plain(usage), plain(yield* receiptsOf(sql, accountId, width)))
    }
    yield* compareKeys(sql, accountId)
    yield* compareMargins(sql, accountId)
  }).pipe(sql.withTransaction)

/** Requests are made in these days instead of now. */
const spreadOverDays = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    yield* sql`CREATE OR REPLACE FUNCTION usage_grace_ms() RETURNS bigint LANGUAGE sql IMMUTABLE AS
      ${sql.literal(`'SELECT ${GRACE_MS}::bigint'`)}`
    yield* sql`CREATE FUNCTION another_day() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.created_at := NEW.created_at - random() * interval '3 days'; RETURN NEW; END $$`
    yield* sql`CREATE TRIGGER another_day BEFORE INSERT ON request FOR EACH ROW EXECUTE FUNCTION another_day()`
  })

/** An id of up to so long ago. */
const idOf = (random: Random, agoMs: number): string =>
  firstRequestIdAt(Date.now() - random.below(agoMs)).slice(0, 14) + newRequestId().slice(14)

/** What there was none of may be left out. */
const usage = (random: Random) => {
  const output = random.below(90)
  return {
    input: random.below(50),
    cached: random.pick([random.below(20), undefined]),
    cacheWrite: random.pick([random.below(9), undefined]),
    output,
    reasoning: random.pick([random.below(output + 1), undefined])
  }
}

/** Attempts that served no answer, at other places than the request. */
const attempts = (random: Random) =>
  Array.from({ length: 1 + random.below(3) }, (_, index) => ({
    index,
    model: random.pick(["m/a", "m/c"]),
    provider: random.pick(["p", "r"]),
    nano: 1 + random.below(40)
  }))

const closedFacts = (random: Random) =>
  random.pick([
    () => ({ usage: usage(random), basis: "reported" }),
    () => ({ usage: usage(random), basis: "reported", providerCost: random.below(60) }),
    () => ({ usage: usage(random), basis: "reported", providerCost: 5, attemptCosts: attempts(random) }),
    () => ({ error: { _tag: "UpstreamError" }, attemptCosts: attempts(random) }),
    () => ({ usage: { units: random.below(9), unit: "image" }, basis: "reported" }),
    () => ({})
  ])()

const randomHold = (owner: Customer, random: Random): HoldOperation =>
  hold(owner, 40n + random.amount(40), {
    requestId: idOf(random, 3 * GRACE_MS),
    model: random.pick(["asked/one", "asked/two"]),
    operation: random.pick(["chat.completions", "embeddings"]),
    ttlMs: random.chance(0.15) ? -1_000 : 900_000,
    charge: random.chance(0.2)
  })

/** One request through some of what can become of it; some are left open. */
const oneRequest = (nodes: ReadonlyArray<Ledger["Service"]>, owner: Customer, random: Random) =>
  Effect.gen(function* () {
    const opened = randomHold(owner, random)
    const node = random.pick(nodes)
    const result = yield* node.commit(opened)
    if (result._tag !== "Granted") return assert.fail(`a hold was answered with ${result._tag}`)
    if (!opened.charge) {
      if (random.chance(0.3)) yield* node.commit(extend(opened, result.granted, 5n, random.amount(30)))
      if (random.chance(0.15)) return
      yield* node.commit(
        close(opened, random.chance(0.3) ? undefined : random.amount(60), {
          resolvedModel: random.pick(["m/a", "m/b", null]),
          provider: random.pick(["p", "q", null]),
          closed: closedFacts(random)
        })
      )
    }
    const given = opened.charge ? random.amount(Number(result.granted) + 1) : 0n
    if (opened.charge && random.chance(0.3)) yield* random.pick(nodes).commit(refund(opened, 1n + random.amount(10)))
    if (opened.charge && random.chance(0.8)) {
      yield* random.pick(nodes).concludeAlone(
        conclusion(opened, given, {
          resolvedModel: random.pick(["m/a", "m/b", null]),
          provider: random.pick(["p", "q", null]),
          closed: closedFacts(random)
        })
      )
    }
    if (random.chance(0.1)) yield* random.pick(nodes).refundOverdue
    if (random.chance(0.4)) yield* random.pick(nodes).commit(refund(opened, 1n + random.amount(10)))
    if (random.chance(0.2)) yield* random.pick(nodes).commit(refund(opened, 1n))
  })

/** A worker that is killed at random moments, and begins again. */
const killedWorker = (url: string, random: Random) =>
  Effect.gen(function* () {
    const client = Layer.succeed(SqlClient.SqlClient, yield* newClient(url))
    const rolling = Layer.fresh(Rollups.layerOf(7)).pipe(Layer.provide(client))
    const { step } = yield* Effect.provide(Rollups, yield* Layer.build(rolling))
    let killed = 0
    const once = Effect.suspend(() => {
      if (random.chance(0.8)) return Effect.asVoid(step)
      return Effect.map(
        Effect.timeoutOption(step, random.below(8)),
        (done) => void (killed += done._tag === "None" ? 1 : 0)
      )
    })
    return { once, step, killed: () => killed }
  })

describe("usage", () => {
  for (const seed of seeds(2)) {
    it.live(
      `equals the sum of the receipts, whichever nodes roll up and die meanwhile (LEDGER_SEED=${seed})`,
      () =>
        Effect.gen(function* () {
          const random = new Random(seed)
          const { nodes, sql, url } = yield* twoNodes
          yield* spreadOverDays(sql)
          const first = yield* customer(sql, 1_000_000n)
          const owners = [
            first,
            { ...first, keyId: yield* addKey(sql, first.accountId) },
            yield* customer(sql, 1_000_000n)
          ]
          const accounts = [...new Set(owners.map(({ accountId }) => accountId))]
          const workers = [yield* killedWorker(url, random), yield* killedWorker(url, random)]
          const rolling = yield* Effect.forkChild(
            Effect.all(
              workers.map(({ once }) => Effect.forever(once)),
              { concurrency: "unbounded", discard: true }
            )
          )
          let proofs = 0
          const booksAreRight = Effect.map(wrongs(sql), (found) => assert.deepStrictEqual(found, []))
          const watching = yield* Effect.forkChild(
            Effect.forever(
              Effect.andThen(
                Effect.andThen(
                  Effect.forEach(accounts, (id) => compare(sql, id)),
                  booksAreRight
                ),
                Effect.sync(() => proofs++)
              )
            )
          )
          // Writes that are committed long after they were made.
          const slow = Effect.gen(function* () {
            const opened = randomHold(random.pick(owners), random)
            yield* nodes[0]!.within(sql, opened)
            if (!opened.charge) yield* nodes[0]!.within(sql, close(opened, 7n))
            else yield* nodes[0]!.conclude(sql, conclusion(opened, 7n))
            yield* sql`SELECT pg_sleep(${(3 * GRACE_MS) / 1000}::float8)`
          }).pipe(sql.withTransaction)
          yield* Effect.forEach(
            Array.from({ length: 6 }, (_, index) => new Random(seed + index)),
            (own) =>
              Effect.forEach(Array.from({ length: 40 }), () =>
                Effect.suspend(() => (own.chance(0.05) ? Effect.orDie(slow) : oneRequest(nodes, own.pick(owners), own)))
              ),
            { concurrency: "unbounded", discard: true }
          )
          assert.isUndefined(rolling.pollUnsafe(), "a worker failed")
          assert.isUndefined(watching.pollUnsafe(), "what was told was wrong in between")
          yield* Fiber.interrupt(watching)
          yield* Fiber.interrupt(rolling)
          assert.isAbove(proofs, 3)

          const open = sql<{ id: string; account_id: string }>`SELECT id, account_id FROM request WHERE state = 'open'`
          for (const { account_id: accountId, id: requestId } of yield* open) {
            yield* nodes[0]!.commit(close({ ...hold(first, 1n), accountId, requestId }, 9n))
          }
          const standing = yield* sql<{ id: string; account_id: string }>`SELECT id, account_id FROM request
            WHERE state = 'settled' AND closed IS NULL`
          assert.isAbove(standing.length, 0)
          for (const { account_id: accountId, id: requestId } of standing) {
            yield* nodes[0]!.concludeAlone(conclusion({ ...hold(first, 1n), accountId, requestId }, 9n))
          }
          const left = sql<{
            left: bigint
          }>`SELECT (SELECT count(*) FROM usage_pending) + (SELECT count(*) FROM usage_refund) + (SELECT count(*) FROM attempt_cost)
            + (SELECT count(*) FROM request WHERE id >= (SELECT through FROM usage_rollup_state)) AS left`
          let rounds = 0
          while ((yield* left)[0]?.left !== 0n) {
            yield* workers[0]!.step
            assert.isBelow(++rounds, 10_000)
          }
          const rolled = yield* sql<{ width: string; requests: bigint; cost: bigint }>`SELECT width,
            sum(requests)::bigint AS requests, sum(cost)::bigint AS cost FROM usage_rollup GROUP BY width ORDER BY width`
          const [all] = yield* sql<{ requests: bigint; cost: bigint }>`SELECT count(*) AS requests,
            sum(settled - refunded)::bigint AS cost FROM request`
          assert.deepStrictEqual(rolled, [
            { width: "day", ...all! },
            { width: "hour", ...all! }
          ])
          for (const id of accounts) yield* compare(sql, id)
          yield* booksAreRight
        }),
      60_000
    )
  }
})
