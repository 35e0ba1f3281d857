import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Logger, Option, Result, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { type Mutation, Mutations } from "../../src/account/Mutations.ts"
import { type Failure, failure } from "../../src/domain/Failure.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { Unavailable } from "../../src/platform/database/Sql.ts"
import { freshDatabase, layer as database, layerUrl } from "../support/Database.ts"
import { root } from "../support/Sources.ts"

const actor = { type: "operator", id: "test" } as const
const DAY_MS = 24 * 3_600_000

const roomsOn = <E, R>(sql: Layer.Layer<SqlClient.SqlClient, E, R>) =>
  Layer.mergeAll(Accounts.layer, Mutations.layer).pipe(Layer.provideMerge(Audit.layer), Layer.provideMerge(sql))

let count = 0
const newAccount = Effect.flatMap(Accounts, ({ create }) => create(`mutations-${count++}@example.com`, actor))
type Account = Effect.Success<typeof newAccount>

/** A change of the account's limits, with further options. */
const change = (account: Account, scale: number, more: Partial<Mutation<object>> = {}) =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    return yield* (yield* Mutations).run<object>({
      accountId: account.id,
      actor,
      requestId: newRequestId(),
      type: "account.limits_changed",
      resource: { type: "account", id: account.id },
      claim: undefined,
      keepAnswer: true,
      codeOf: ({ _tag }) => `code of ${_tag}`,
      work: Effect.as(accounts.setLimitScale(account, scale, actor), { scale }),
      ...more
    })
  })

const claim = (key: string, fingerprint = "one body") => ({ claim: `POST /x ${key}`, fingerprint })

const scaleOf = ({ email }: Account) =>
  Effect.flatMap(Accounts, ({ findByEmail }) => Effect.map(findByEmail(email), (row) => row?.limit_scale))

/** Returns the entries of the account's changes, newest first. */
const lines = ({ id }: Account) =>
  Effect.flatMap(Audit, (audit) =>
    Effect.map(audit.list(id, 100), (rows) => rows.filter(({ type }) => type !== "account.created"))
  )

const ends = (account: Account) =>
  Effect.map(lines(account), (rows) => rows.map(({ code, outcome, status }) => code ?? outcome ?? status))

const claims = ({ id }: Account) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(sql<object>`SELECT claim FROM unpaid_claim WHERE account_id = ${id}`, (rows) => rows.length)
  )

/** While `body` runs, the database refuses writes to this table with this state, at once or at the commit. */
const refusing = <A, E, R>(table: string, state: string, body: Effect.Effect<A, E, R>, deferred = false) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => {
    const moment = deferred ? "CONSTRAINT TRIGGER planted AFTER" : "TRIGGER planted BEFORE"
    const plant = Effect.andThen(
      sql`CREATE OR REPLACE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS
        ${sql.literal(`$$ BEGIN RAISE EXCEPTION 'planted' USING ERRCODE = '${state}'; END $$`)}`,
      sql`CREATE ${sql.literal(moment)} INSERT ON ${sql(table)}
        ${sql.literal(deferred ? "DEFERRABLE INITIALLY DEFERRED" : "")} FOR EACH ROW EXECUTE FUNCTION planted()`
    )
    return Effect.acquireUseRelease(
      plant,
      () => body,
      () => Effect.ignore(sql`DROP TRIGGER planted ON ${sql(table)}`)
    )
  })

const failureOf = <A>(effect: Effect.Effect<A, Failure | Unavailable | SqlError.SqlError, never>) =>
  Effect.map(Effect.flip(effect), (error) => (error._tag === "Failure" ? error.reason._tag : error._tag))

const asking = <R>(effect: Effect.Effect<unknown, Failure | Unavailable, R>) =>
  Effect.flatMap(Effect.context<R>(), (context) => failureOf(Effect.provide(effect, context)))

const quiet = Effect.provide(Logger.layer([]))

describe("a mutation", () => {
  layer(roomsOn(database), { excludeTestServices: true })((it) => {
    it.effect("is visible in the audit log before it runs, and as completed afterwards", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const account = yield* newAccount
        const requestId = newRequestId()
        // This connection differs from the transaction's.
        const others = Effect.runPromiseWith(yield* Effect.context<Audit>())
        let seen: ReadonlyArray<string> = []
        const work = Effect.gen(function* () {
          seen = yield* Effect.promise(() => others(ends(account)))
          yield* accounts.setLimitScale(account, 3, actor)
          return { done: true }
        })
        const made = yield* change(account, 3, { requestId, work })
        assert.deepStrictEqual(made, { answer: { done: true }, replayed: false, audited: true })
        assert.deepStrictEqual(seen, ["pending"])
        const [line] = yield* lines(account)
        assert.deepInclude(line, { status: "completed", outcome: "succeeded", code: null, request_id: requestId })
        assert.deepStrictEqual(line!.changes, { limit_scale: { from: 1, to: 3 } })
        assert.strictEqual((yield* lines(account)).length, 1, "one line, not two")
      })
    )

    it.effect("that fails changes nothing, and is logged with the error code of its response", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const account = yield* newAccount
        const then = (fails: Effect.Effect<never, Failure | Unavailable>) =>
          change(account, 3, { work: Effect.andThen(accounts.setLimitScale(account, 3, actor), fails) })
        assert.strictEqual(
          yield* asking(then(Effect.fail(failure({ _tag: "NotFound", what: "key", id: "x" })))),
          "NotFound"
        )
        assert.strictEqual(yield* asking(then(Effect.fail(new Unavailable({ store: "redis" })))), "Unavailable")
        assert.isTrue(Exit.hasDies(yield* Effect.exit(then(Effect.die(new Error("a bug"))))))
        assert.strictEqual(yield* scaleOf(account), 1)
        assert.deepStrictEqual(yield* ends(account), [
          "code of InternalError",
          "code of StoreUnavailable",
          "code of NotFound"
        ])
        for (const { changes } of yield* lines(account)) assert.deepStrictEqual(changes, {})
      })
    )

    it.effect("does not run when its audit entry cannot be written", () =>
      Effect.gen(function* () {
        const account = yield* newAccount
        const asked = change(account, 3, { claim: claim("a") })
        for (const table of ["audit_event", "audit_open"]) {
          // A full disk.
          assert.strictEqual(yield* asking(refusing(table, "53100", asked) as typeof asked), "Unavailable")
          assert.isTrue(Exit.hasDies(yield* Effect.exit(refusing(table, "P0001", asked))))
        }
        assert.deepStrictEqual([yield* scaleOf(account), yield* ends(account), yield* claims(account)], [1, [], 0])
        assert.isFalse((yield* asked).replayed)
      })
    )

    it.effect(
      "runs when its entry cannot be completed, and the entry stays pending and appears in the service log",
      () =>
        Effect.gen(function* () {
          const said: Array<string> = []
          const logger = Logger.layer([Logger.map(Logger.formatLogFmt, (text) => void said.push(text))])
          const account = yield* newAccount
          const requestId = newRequestId()
          const asked = change(account, 3, { claim: claim("a"), requestId })
          const made = yield* Effect.provide(refusing("audit_completion", "53100", asked), logger)
          assert.deepStrictEqual(made, { answer: { scale: 3 }, replayed: false, audited: false })
          assert.deepStrictEqual([yield* scaleOf(account), yield* ends(account)], [3, ["pending"]])
          assert.strictEqual(said.length, 1)
          assert.include(said[0], `request_id=${requestId}`)
          const { rows } = yield* (yield* Audit).pending(-60_000, account.id)
          assert.deepStrictEqual(
            rows.map(({ request_id }) => request_id),
            [requestId]
          )
          assert.isTrue((yield* change(account, 3, { claim: claim("a") })).replayed, "it happened")
        })
    )

    it.effect("stays pending when the outcome of its commit is unknown", () =>
      Effect.gen(function* () {
        const account = yield* newAccount
        const asked = change(account, 3, { claim: claim("a") })
        assert.strictEqual(
          yield* asking(quiet(refusing("unpaid_claim", "57P01", asked, true)) as typeof asked),
          "Unavailable"
        )
        assert.deepStrictEqual(yield* ends(account), ["pending"])
        // In this case it did not commit, and may be repeated.
        assert.isFalse((yield* asked).replayed)
        assert.deepStrictEqual(yield* ends(account), ["succeeded", "pending"])
      })
    )

    it.effect("continues when its client disconnects", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const account = yield* newAccount
        const [begun, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        let after = 0
        const work = Effect.gen(function* () {
          yield* Deferred.succeed(begun, undefined)
          yield* Deferred.await(goOn)
          yield* accounts.setLimitScale(account, 3, actor)
          return {}
        })
        const fiber = yield* Effect.forkChild(change(account, 3, { work, afterwards: Effect.sync(() => void after++) }))
        yield* Deferred.await(begun)
        const leaving = yield* Effect.forkChild(Fiber.interrupt(fiber))
        yield* Deferred.succeed(goOn, undefined)
        yield* Fiber.join(leaving)
        assert.deepStrictEqual([yield* scaleOf(account), yield* ends(account), after], [3, ["succeeded"], 1])
      })
    )

    it.effect("that calls other services ends when its client disconnects, and the log says so", () =>
      Effect.gen(function* () {
        const account = yield* newAccount
        const begun = yield* Deferred.make<void>()
        const work = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
        const fiber = yield* Effect.forkChild(change(account, 3, { work, outside: true }))
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* ends(account), ["request_cancelled"])
        const { answer } = yield* change(account, 3, { work: Effect.succeed({ heard: true }), outside: true })
        assert.deepStrictEqual(answer, { heard: true })
        assert.deepStrictEqual(yield* ends(account), ["succeeded", "request_cancelled"])
      })
    )

    it.effect("runs its afterwards step whatever the outcome, and succeeds even if that step fails", () =>
      Effect.gen(function* () {
        const account = yield* newAccount
        let after = 0
        const afterwards = Effect.andThen(
          Effect.sync(() => void after++),
          Effect.die(new Error("a bug"))
        )
        assert.isTrue((yield* quiet(change(account, 3, { afterwards }))).audited)
        const fails = Effect.fail(failure({ _tag: "NotFound", what: "key", id: "x" }))
        assert.strictEqual(yield* asking(quiet(change(account, 3, { afterwards, work: fails }))), "NotFound")
        assert.deepStrictEqual([after, yield* ends(account)], [2, ["code of NotFound", "succeeded"]])
      })
    )
  })
})

describe("an idempotency key", () => {
  layer(roomsOn(database), { excludeTestServices: true })((it) => {
    it.effect("answers a repeat with the first response, and neither runs nor logs anything twice", () =>
      Effect.gen(function* () {
        const account = yield* newAccount
        const first = yield* change(account, 3, { claim: claim("a") })
        const again = yield* change(account, 4, { claim: claim("a") })
        assert.deepStrictEqual([first.replayed, again.replayed, again.answer], [false, true, first.answer])
        assert.deepStrictEqual([yield* scaleOf(account), yield* ends(account)], [3, ["succeeded"]])
      })
    )

    it.effect("is valid for one body, within one account", () =>
      Effect.gen(function* () {
        const [account, other] = [yield* newAccount, yield* newAccount]
        yield* change(account, 3, { claim: claim("a") })
        const reused = change(account, 4, { claim: claim("a", "another body") })
        assert.strictEqual(yield* asking(reused), "IdempotencyKeyReused")
        assert.isFalse((yield* change(other, 5, { claim: claim("a", "another body") })).replayed)
        assert.deepStrictEqual([yield* scaleOf(account), yield* scaleOf(other)], [3, 5])
      })
    )

    it.effect("refuses a repeat at once while the first request runs, and replays its response afterwards", () =>
      Effect.gen(function* () {
        const account = yield* newAccount
        const [begun, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const work = Effect.as(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn)), { scale: 2 })
        const first = yield* Effect.forkChild(change(account, 2, { claim: claim("a"), work }))
        yield* Deferred.await(begun)
        const repeat = yield* Effect.forkChild(Effect.flip(change(account, 2, { claim: claim("a") })))
        const response = yield* Effect.timeoutOption(Fiber.join(repeat), "5 seconds")
        assert.isFalse((yield* change(account, 3, { claim: claim("b") })).replayed, "another key is free meanwhile")
        yield* Deferred.succeed(goOn, undefined)
        assert.deepStrictEqual(response, Option.some(failure({ _tag: "IdempotencyInProgress" })))
        assert.isFalse((yield* Fiber.join(first)).replayed)
        assert.deepInclude(yield* change(account, 4, { claim: claim("a") }), { answer: { scale: 2 }, replayed: true })
        assert.deepStrictEqual(yield* ends(account), ["succeeded", "code of IdempotencyInProgress", "succeeded"])
      })
    )

    it.effect("is free again when the first request failed", () =>
      Effect.gen(function* () {
        const account = yield* newAccount
        const work = Effect.fail(failure({ _tag: "Conflict", detail: "no" }))
        assert.strictEqual(yield* asking(change(account, 3, { claim: claim("a"), work })), "Conflict")
        assert.isFalse((yield* change(account, 3, { claim: claim("a", "another body") })).replayed)
      })
    )

    it.effect("stores no response that contains a secret, whether declared or not", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const account = yield* newAccount
        const planted = `svc_sk_${"planted".repeat(6)}x`
        const work = Effect.succeed({ key: planted })
        for (const [key, keepAnswer] of [
          ["told", false],
          ["untold", true]
        ] as const) {
          const made = yield* change(account, 3, { claim: claim(key), keepAnswer, work })
          assert.deepStrictEqual(made.answer, { key: planted })
          const again = change(account, 3, { claim: claim(key), keepAnswer, work })
          assert.strictEqual(yield* asking(again), "IdempotencyResultUnavailable")
        }
        const [row] = yield* sql<{ text: string }>`SELECT jsonb_agg(c)::text AS text FROM unpaid_claim c`
        assert.notInclude(row!.text, "planted")
      })
    )

    it.effect("is dropped after one day, and valid until then", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const mutations = yield* Mutations
        const account = yield* newAccount
        yield* change(account, 3, { claim: claim("old") })
        yield* change(account, 3, { claim: claim("young") })
        const aged = (key: string, age: string) =>
          sql`UPDATE unpaid_claim SET created_at = now() - ${age}::interval WHERE claim = ${claim(key).claim}`
        yield* aged("old", "24 hours 1 second")
        yield* aged("young", "23 hours 59 minutes")
        assert.strictEqual(yield* mutations.dropClaims(DAY_MS), 1)
        assert.strictEqual(yield* mutations.dropClaims(DAY_MS), 0)
        assert.isFalse((yield* change(account, 4, { claim: claim("old") })).replayed)
        assert.isTrue((yield* change(account, 4, { claim: claim("young") })).replayed)
      })
    )
  })

  it.live("merges concurrent attempts on two services into one", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase("mutations")
      const services = yield* Effect.forEach([url, url], (one) => Layer.build(roomsOn(layerUrl(one, 6))))
      const account = yield* Effect.provide(newAccount, services[0]!)
      for (let round = 0; round < 5; round++) {
        const tries = Array.from({ length: 10 }, (_, index) =>
          Effect.provide(change(account, index + 2, { claim: claim(`round ${round}`) }), services[index % 2]!)
        )
        const results = yield* Effect.forEach(tries, Effect.result, { concurrency: "unbounded" })
        const made = results.flatMap((result) => (Result.isSuccess(result) ? [result.success] : []))
        for (const result of results.filter(Result.isFailure)) {
          assert.deepStrictEqual(result.failure, failure({ _tag: "IdempotencyInProgress" }))
        }
        const first = made.find(({ replayed }) => !replayed)
        assert.strictEqual(made.filter(({ replayed }) => !replayed).length, 1)
        for (const { answer } of made) assert.deepStrictEqual(answer, first!.answer)
        assert.deepStrictEqual(first!.answer, { scale: yield* Effect.provide(scaleOf(account), services[0]!) })
        const ended = yield* Effect.provide(ends(account), services[0]!)
        assert.strictEqual(ended.filter((end) => end === "succeeded").length, round + 1)
        const others = new Set(["idempotency_replayed", "code of IdempotencyInProgress"])
        assert.isTrue(ended.every((end) => end === "succeeded" || others.has(end)))
      }
    }).pipe(Effect.scoped)
  )
})

/** A process that is killed at a given moment. */
const killed = (moment: "before" | "after", url: string, account: Account) =>
  Effect.promise(async () => {
    const file = join(root, "test/account/mutatingProcess.ts")
    const child = spawn(process.execPath, [file, moment, url, account.email], { stdio: ["ignore", "pipe", "inherit"] })
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
    const there = await new Promise<boolean>((resolve) => {
      child.stdout.once("data", () => resolve(true))
      void ended.then(() => resolve(false))
    })
    child.kill("SIGKILL")
    await ended
    return there
  })

describe("a process that is killed", () => {
  for (const [moment, scale, replayed] of [
    ["before", 1, false],
    ["after", 7, true]
  ] as const) {
    it.live(`${moment} the commit leaves its entry pending, and lets the client repeat the request safely`, () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase("mutations")
        yield* Effect.gen(function* () {
          const account = yield* newAccount
          assert.isTrue(yield* killed(moment, url, account))
          assert.deepStrictEqual([yield* scaleOf(account), yield* ends(account)], [scale, ["pending"]])
          // The database may notice the death of the process a little later than this test does.
          const again = yield* Effect.retry(change(account, 7, { claim: { claim: "POST /x key", fingerprint: "f" } }), {
            while: (error) => error._tag === "Failure" && error.reason._tag === "IdempotencyInProgress",
            schedule: Schedule.spaced("20 millis"),
            times: 200
          })
          assert.strictEqual(again.replayed, replayed)
          assert.strictEqual(yield* scaleOf(account), 7)
        }).pipe(Effect.provide(roomsOn(layerUrl(url))))
      }).pipe(Effect.scoped)
    )
  }
})
