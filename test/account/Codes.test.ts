import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Codes, MAX_ATTEMPTS } from "../../src/account/Codes.ts"
import type { Failure } from "../../src/domain/Failure.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import type { Unavailable } from "../../src/platform/database/Sql.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"

const secrets = Secrets.layerFrom(Redacted.make("k".repeat(32)))

/** Two nodes' codes, with separate connections. */
const nodes = Effect.gen(function* () {
  const url = yield* freshDatabase("codes")
  const node = Layer.build(Layer.fresh(Codes.layer.pipe(Layer.provideMerge(layerUrl(url, 8)), Layer.provide(secrets))))
  const [one, other] = [yield* node, yield* node]
  return { one: Context.get(one, Codes), other: Context.get(other, Codes), sql: Context.get(one, SqlClient.SqlClient) }
})

const bound = { subject: "a", sends: 3, window: Duration.minutes(15) }

const refusal = (work: Effect.Effect<void, Failure | Unavailable>) =>
  Effect.map(Effect.flip(work), (error) => (error._tag === "Failure" ? error.reason : undefined))

describe("Codes", () => {
  it.live("are accepted on any node, and work once", () =>
    Effect.gen(function* () {
      const { one, other } = yield* nodes
      const code = yield* one.issue("ann")
      assert.match(code, /^\d{6}$/)
      const attempt = yield* other.attempt("ann")
      assert.isTrue(attempt?.matches(code))
      assert.isFalse(attempt?.matches(code === "000000" ? "000001" : "000000"))
      assert.isFalse(attempt?.matches(""))
      assert.isUndefined(yield* one.attempt("bob"))
      const used = yield* Effect.all([one.use("ann", attempt!.id), other.use("ann", attempt!.id)], { concurrency: 2 })
      assert.sameMembers(used, [true, false])
      assert.isUndefined(yield* one.attempt("ann"))
    }).pipe(Effect.scoped)
  )

  it.live("allow five guesses, however many arrive at once on two nodes", () =>
    Effect.gen(function* () {
      const { one, other } = yield* nodes
      yield* one.issue("ann")
      const guesses = Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? one : other).attempt("ann"))
      const counted = yield* Effect.all(guesses, { concurrency: "unbounded" })
      assert.lengthOf(
        counted.filter((attempt) => attempt !== undefined),
        MAX_ATTEMPTS
      )
      assert.isUndefined(yield* other.attempt("ann"))
    }).pipe(Effect.scoped)
  )

  it.live("expire after their lifetime and when a newer code is issued", () =>
    Effect.gen(function* () {
      const { one, sql } = yield* nodes
      const first = yield* one.issue("ann")
      const before = yield* one.attempt("ann")
      const second = yield* one.issue("ann")
      const after = yield* one.attempt("ann")
      assert.isTrue(after?.matches(second))
      assert.strictEqual(after?.matches(first), first === second)
      assert.isFalse(yield* one.use("ann", before!.id))
      yield* sql`UPDATE verification_code SET expires_at = now()`
      assert.isUndefined(yield* one.attempt("ann"))
      assert.strictEqual(yield* one.dropOver, 1)
      assert.strictEqual(yield* one.dropOver, 0)
    }).pipe(Effect.scoped)
  )

  it.live("of an external service are found by their reference, and never match a guess at the gateway", () =>
    Effect.gen(function* () {
      const { one } = yield* nodes
      yield* one.refer("+49", "VE1")
      const attempt = yield* one.attempt("+49")
      assert.deepStrictEqual([attempt?.reference, attempt?.matches("")], ["VE1", false])
    }).pipe(Effect.scoped)
  )

  it.live("are sent a limited number of times by two nodes together, and again after the window", () =>
    Effect.gen(function* () {
      const { one, other, sql } = yield* nodes
      const sends = Array.from({ length: 20 }, (_, n) => Effect.exit((n % 2 === 0 ? one : other).admit([bound])))
      const exits = yield* Effect.all(sends, { concurrency: "unbounded" })
      assert.lengthOf(
        exits.filter(({ _tag }) => _tag === "Success"),
        bound.sends
      )
      const reason = yield* refusal(one.admit([bound]))
      assert.strictEqual(reason?._tag, "RateLimitExceeded")
      if (reason?._tag === "RateLimitExceeded") {
        assert.isTrue(reason.retryAfterSeconds > 800 && reason.retryAfterSeconds <= 900)
      }
      yield* one.admit([{ ...bound, subject: "b" }])
      yield* one.admit([{ ...bound, window: Duration.minutes(1) }])
      yield* sql`UPDATE verification_sends SET ends_at = now()`
      yield* other.admit([bound])
      assert.strictEqual(yield* one.dropOver, 2)
    }).pipe(Effect.scoped)
  )

  it.live("count toward no limit while another limit is reached, in any order", () =>
    Effect.gen(function* () {
      const { one } = yield* nodes
      const [full, free] = [
        { ...bound, sends: 1 },
        { ...bound, subject: "b", sends: 2 }
      ]
      yield* one.admit([full, free])
      for (const both of [
        [full, free],
        [free, full]
      ]) {
        assert.strictEqual((yield* refusal(one.admit(both)))?._tag, "RateLimitExceeded")
      }
      yield* one.admit([free])
      assert.strictEqual((yield* refusal(one.admit([free])))?._tag, "RateLimitExceeded")
    }).pipe(Effect.scoped)
  )

  it.live("are refused until every reached limit has room again", () =>
    Effect.gen(function* () {
      const { one, sql } = yield* nodes
      for (const subject of ["a", "b", "c", "d", "e", "f"]) {
        const bounds = [1, 15, 60].map((minutes) => ({ subject, sends: 1, window: Duration.minutes(minutes) }))
        yield* one.admit(bounds)
        const reason = yield* refusal(one.admit([...bounds, { ...bound, subject }]))
        assert.isTrue(reason?._tag === "RateLimitExceeded" && reason.retryAfterSeconds > 3_500, JSON.stringify(reason))
      }
      assert.deepStrictEqual(yield* sql`SELECT max(sends) AS most, count(*)::int AS windows FROM verification_sends`, [
        { most: 1, windows: 18 }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("appear in no table in plain text, nor do their recipients", () =>
    Effect.gen(function* () {
      const { one, sql } = yield* nodes
      const code = yield* one.issue("sign-in ann@example.com")
      yield* one.admit([{ ...bound, subject: "sign-in ann@example.com" }])
      const rows = yield* sql<{ text: string }>`SELECT v::text || s::text AS text
        FROM verification_code v, verification_sends s`
      assert.lengthOf(rows, 1)
      assert.notInclude(rows[0]?.text ?? "", Buffer.from("ann@example.com").toString("hex"))
      assert.notInclude(rows[0]?.text ?? "", "ann@example.com")
      assert.notInclude(rows[0]?.text ?? "", `"${code}"`)
    }).pipe(Effect.scoped)
  )
})
