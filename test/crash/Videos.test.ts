/** Processes that sell and make a video are killed at moments that are met: others go on, and the job ends once with its money. */
import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Logger, Schedule, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { ServerResponse } from "node:http"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layer as administration } from "../../src/admin/Database.ts"
import { Customers, OPERATOR } from "../../src/billing/Customers.ts"
import { verify } from "../../src/ledger/Verify.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { upstream } from "../providers/upstream.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { get, json, post } from "../support/Service.ts"
import { type Gateway, makeGateway } from "./Gateway.ts"

const BALANCE = 100_000_000_000n
/** Four seconds of `veo-3`. */
const COST = 1_600_000_000n
const clip = { model: "veo-3", prompt: "A kite over the sea", duration: 4, aspect_ratio: "16:9" }

/** What a host that speaks fal's queue is asked for. */
type Question = "submit" | "status" | "result" | "clip"

const questionOf = (method: string, path: string): Question => {
  if (method === "POST") return "submit"
  if (path.endsWith("/clip.mp4")) return "clip"
  return path.endsWith("/status") ? "status" : "result"
}

/** Answers as fal does, but for the question that it is to keep waiting for ever. */
class Fal {
  readonly asked: Record<Question, number> = { submit: 0, status: 0, result: 0, clip: 0 }
  origin = ""
  #holding: Question | undefined
  #arrived = Deferred.makeUnsafe<void>()

  /** Keeps the next such question, and answers when it has come. */
  hold(question: Question): Effect.Effect<void> {
    this.#arrived = Deferred.makeUnsafe()
    this.#holding = question
    return Deferred.await(this.#arrived)
  }

  answer(method: string, path: string, response: ServerResponse): void {
    const question = questionOf(method, path)
    this.asked[question] += 1
    if (this.#holding === question) {
      this.#holding = undefined
      Deferred.doneUnsafe(this.#arrived, Effect.void)
      return
    }
    if (question === "clip") return void response.end(Buffer.from("\0\0\0\x18ftypisom", "latin1"))
    response.setHeader("content-type", "application/json")
    response.end(
      JSON.stringify(
        {
          submit: { request_id: "r1", response_url: `${this.origin}/fal-ai/veo3/requests/r1` },
          status: { status: "COMPLETED" },
          result: { video: { url: `${this.origin}/clip.mp4` } }
        }[question]
      )
    )
  }
}

class Stage extends Context.Service<
  Stage,
  {
    readonly fal: Fal
    readonly gateway: Gateway
    readonly api: string
    readonly sql: SqlClient.SqlClient
    readonly account: Effect.Effect<{ readonly id: string; readonly key: string }>
  }
>()("tollgate/test/VideoStage") {
  static readonly layer = Layer.effect(
    Stage,
    Effect.gen(function* () {
      const fal = new Fal()
      const { origin } = yield* upstream(
        (request, response) =>
          void request.resume().on("end", () => fal.answer(request.method ?? "", request.url ?? "", response))
      )
      fal.origin = origin
      const databaseUrl = yield* freshDatabase("videos")
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-videos-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const settings = { DATABASE_URL: databaseUrl, DATA_DIR: directory }
      const gateway = yield* makeGateway({
        ...settings,
        FAL_API_KEY: "k",
        FAL_BASE_URL: origin,
        OUTBOUND_ALLOW_LOOPBACK: "1",
        SANDBOX: "off",
        RATE_LIMIT_SCALE: "1000",
        SWEEP_INTERVAL: "1 second"
      })
      yield* gateway.start
      const rooms = yield* Layer.build(
        administration.pipe(
          Layer.provide(Config.layerFrom({ ...settings, DATABASE_POOL_SIZE: "2" })),
          Layer.provide(Logger.layer([]))
        )
      )
      const customers = Context.get(rooms, Customers)
      let accounts = 0
      const account = Effect.map(
        Effect.orDie(Effect.suspend(() => customers.open(`killed-${accounts++}@example.com`, BALANCE, OPERATOR))),
        ({ account, inferenceKey }) => ({ id: account.id, key: inferenceKey })
      )
      const sql = Context.get(yield* Layer.build(layerUrl(databaseUrl, 4)), SqlClient.SqlClient)
      return { fal, gateway, api: `http://127.0.0.1:${gateway.port}/api/v1`, sql, account }
    })
  )
}

const often = Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "40 seconds" }))

const submit = ({ api }: Stage["Service"], key: string, idempotencyKey: string) =>
  post(`${api}/videos`, key, clip, { "idempotency-key": idempotencyKey })

/** The process is gone, its leases are over, and another one begins. */
const rise = ({ gateway, sql }: Stage["Service"]) =>
  Effect.gen(function* () {
    yield* gateway.kill
    yield* sql`UPDATE video_job SET busy_until = NULL WHERE completed_at IS NULL`
    yield* sql`UPDATE job SET acquired_at = NULL, acquired_by = NULL WHERE state = 'pending'`
    yield* gateway.start
  })

/** Keeps everybody from an account's balance until the scope ends. */
const lockBalance = (sql: SqlClient.SqlClient, accountId: string) =>
  Effect.gen(function* () {
    const locked = yield* Deferred.make<void>()
    const free = yield* Deferred.make<void>()
    yield* Effect.forkScoped(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT 1 FROM balance WHERE account_id = ${accountId} FOR UPDATE`
          yield* Deferred.succeed(locked, undefined)
          yield* Deferred.await(free)
        })
      )
    )
    yield* Deferred.await(locked)
    return Deferred.succeed(free, undefined)
  })

/** Once somebody waits for a lock in a statement like this. */
const waits = (sql: SqlClient.SqlClient, statement: string) =>
  Effect.map(
    Effect.repeat(
      sql<{ waiting: bigint }>`SELECT count(*) AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ${`%${statement}%`}`,
      { schedule: often, until: ([row]) => row?.waiting === 1n }
    ),
    ([row]) => assert.strictEqual(row?.waiting, 1n, `nobody waits in ${statement}`)
  )

type Killing = (
  stage: Stage["Service"],
  account: { readonly id: string; readonly key: string }
) => Effect.Effect<void, unknown, Scope.Scope>

/** Submits, and kills the process when the provider has been asked this. */
const killedAt =
  (question: Question): Killing =>
  (stage, { key }) =>
    Effect.gen(function* () {
      const arrived = stage.fal.hold(question)
      yield* submit(stage, key, "k")
      yield* arrived
      yield* rise(stage)
    })

const moments: ReadonlyArray<{
  readonly name: string
  readonly submitted: number | undefined
  readonly kill: Killing
}> = [
  {
    name: "while it charges",
    submitted: 1,
    kill: (stage, { id, key }) =>
      Effect.gen(function* () {
        const free = yield* lockBalance(stage.sql, id)
        yield* Effect.forkScoped(Effect.ignoreCause(submit(stage, key, "k")))
        yield* waits(stage.sql, "ledger_commit")
        yield* stage.gateway.kill
        yield* free
        yield* rise(stage)
        assert.deepStrictEqual(yield* stage.sql`SELECT id FROM video_job WHERE account_id = ${id}`, [])
      })
  },
  {
    name: "as soon as it is sold",
    // Whether the provider has been handed it by then is chance.
    submitted: undefined,
    kill: (stage, { key }) => Effect.andThen(submit(stage, key, "k"), rise(stage))
  },
  // Nobody can know whether it was taken.
  { name: "while the provider is handed it", submitted: 2, kill: killedAt("submit") },
  { name: "while the provider says how far it is", submitted: 1, kill: killedAt("status") },
  { name: "while it reads the clip", submitted: 1, kill: killedAt("clip") },
  {
    name: "in the transaction of its end",
    submitted: 1,
    kill: (stage, { id, key }) =>
      Effect.gen(function* () {
        const asked = stage.fal.hold("status")
        yield* submit(stage, key, "k")
        yield* asked
        const free = yield* lockBalance(stage.sql, id)
        yield* rise(stage)
        yield* waits(stage.sql, "ledger_conclude")
        yield* stage.gateway.kill
        yield* free
        yield* rise(stage)
      })
  }
]

layer(Stage.layer, { excludeTestServices: true, timeout: 120_000 })("a process that makes videos", (it) => {
  for (const { submitted, kill, name } of moments) {
    it.effect(
      `that is killed ${name} leaves a video that is made once and paid for once`,
      () =>
        Effect.gen(function* () {
          const stage = yield* Stage
          const { api, fal, sql } = stage
          const account = yield* stage.account
          const before = fal.asked.submit
          yield* kill(stage, account)
          // Whoever heard nothing asks again, and is answered with the job there is.
          const { id } = yield* Effect.flatMap(submit(stage, account.key, "k"), json)
          const video = yield* Effect.repeat(Effect.flatMap(get(`${api}/videos/${id}`, account.key), json), {
            schedule: often,
            until: ({ status }) => status === "completed" || status === "failed"
          })
          assert.deepInclude(video, { status: "completed", cost_usd: 1.6, refunded: false, provider: "fal" })
          const handed = fal.asked.submit - before
          assert.include(submitted === undefined ? [1, 2] : [submitted], handed)
          const jobs = yield* sql`SELECT id FROM video_job WHERE account_id = ${account.id}`
          assert.deepStrictEqual(jobs, [{ id }])
          const events = yield* sql`SELECT id, type FROM webhook_event WHERE account_id = ${account.id}`
          assert.deepStrictEqual(events, [{ id: `evt_${id}`, type: "video.completed" }])
          const [balance] = yield* sql`SELECT posted, held FROM balance WHERE account_id = ${account.id}`
          assert.deepStrictEqual(balance, { posted: BALANCE - COST, held: 0n })
          const { checks } = yield* verify(sql)
          assert.deepStrictEqual(
            checks.filter(({ ok }) => !ok),
            []
          )
        }).pipe(Effect.scoped),
      60_000
    )
  }
})
