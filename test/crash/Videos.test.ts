/** Kills a gateway at exact moments of a video's life. The next process must finish the video once and charge it once. */
import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Logger, Schedule, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { ServerResponse } from "node:http"
import { layer as administration } from "../../src/admin/Database.ts"
import { Customers, OPERATOR } from "../../src/billing/Customers.ts"
import { verify } from "../../src/ledger/Verify.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { upstream } from "../providers/upstream.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { get, json, post } from "../support/Service.ts"
import { type Gateway, makeGateway } from "./Gateway.ts"

const BALANCE = 100_000_000_000n
/** Four seconds of `veo-3`. */
const COST = 1_600_000_000n
const clip = { model: "veo-3", prompt: "A kite over the sea", duration: 4, aspect_ratio: "16:9" }

/** The calls of fal's queue API. */
type FalCall = "submit" | "status" | "result" | "clip"

const callOf = (method: string, path: string): FalCall => {
  if (method === "POST") return "submit"
  if (path.endsWith("/clip.mp4")) return "clip"
  return path.endsWith("/status") ? "status" : "result"
}

/** A provider with fal's API that can leave one call without an answer. */
class Fal {
  readonly calls: Record<FalCall, number> = { submit: 0, status: 0, result: 0, clip: 0 }
  origin = ""
  #hanging: FalCall | undefined
  #arrived = Deferred.makeUnsafe<void>()

  /** Leaves the next such call without an answer. The returned effect completes when the call arrives. */
  hang(call: FalCall): Effect.Effect<void> {
    this.#arrived = Deferred.makeUnsafe()
    this.#hanging = call
    return Deferred.await(this.#arrived)
  }

  answer(method: string, path: string, response: ServerResponse): void {
    const call = callOf(method, path)
    this.calls[call] += 1
    if (this.#hanging === call) {
      this.#hanging = undefined
      Deferred.doneUnsafe(this.#arrived, Effect.void)
      return
    }
    if (call === "clip") return void response.end(Buffer.from("\0\0\0\x18ftypisom", "latin1"))
    response.setHeader("content-type", "application/json")
    response.end(
      JSON.stringify(
        {
          submit: { request_id: "r1", response_url: `${this.origin}/fal-ai/veo3/requests/r1` },
          status: { status: "COMPLETED" },
          result: { video: { url: `${this.origin}/clip.mp4` } }
        }[call]
      )
    )
  }
}

class VideoGateway extends Context.Service<
  VideoGateway,
  {
    readonly fal: Fal
    readonly gateway: Gateway
    readonly api: string
    readonly sql: SqlClient.SqlClient
    readonly account: Effect.Effect<{ readonly id: string; readonly key: string }>
  }
>()("tollgate/test/VideoGateway") {
  static readonly layer = Layer.effect(
    VideoGateway,
    Effect.gen(function* () {
      const fal = new Fal()
      const { origin } = yield* upstream(
        (request, response) =>
          void request.resume().on("end", () => fal.answer(request.method ?? "", request.url ?? "", response))
      )
      fal.origin = origin
      const databaseUrl = yield* freshDatabase("videos")
      const directory = yield* temporaryDirectory
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

const polling = Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "40 seconds" }))

const submit = ({ api }: VideoGateway["Service"], key: string, idempotencyKey: string) =>
  post(`${api}/videos`, key, clip, { "idempotency-key": idempotencyKey })

/** Kills the process, ends its leases, and starts another one. */
const killAndRestart = ({ gateway, sql }: VideoGateway["Service"]) =>
  Effect.gen(function* () {
    yield* gateway.kill
    yield* sql`UPDATE video_job SET busy_until = NULL WHERE completed_at IS NULL`
    yield* sql`UPDATE job SET acquired_at = NULL, acquired_by = NULL WHERE state = 'pending'`
    yield* gateway.start
  })

/** Locks an account's balance. Returns the effect that unlocks it. */
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

/** Waits until a connection waits for a lock in this statement. */
const untilLocked = (sql: SqlClient.SqlClient, statement: string) =>
  Effect.map(
    Effect.repeat(
      sql<{ waiting: bigint }>`SELECT count(*) AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ${`%${statement}%`}`,
      { schedule: polling, until: ([row]) => row?.waiting === 1n }
    ),
    ([row]) => assert.strictEqual(row?.waiting, 1n, `no connection waits for a lock in ${statement}`)
  )

type Kill = (
  setup: VideoGateway["Service"],
  account: { readonly id: string; readonly key: string }
) => Effect.Effect<void, unknown, Scope.Scope>

/** Submits a video and kills the process when this call reaches the provider. */
const killDuring =
  (call: FalCall): Kill =>
  (setup, { key }) =>
    Effect.gen(function* () {
      const arrived = setup.fal.hang(call)
      yield* submit(setup, key, "k")
      yield* arrived
      yield* killAndRestart(setup)
    })

const moments: ReadonlyArray<{
  readonly name: string
  readonly submitted: number | undefined
  readonly kill: Kill
}> = [
  {
    name: "during the charge",
    submitted: 1,
    kill: (setup, { id, key }) =>
      Effect.gen(function* () {
        const unlock = yield* lockBalance(setup.sql, id)
        yield* Effect.forkScoped(Effect.ignoreCause(submit(setup, key, "k")))
        yield* untilLocked(setup.sql, "ledger_commit")
        yield* setup.gateway.kill
        yield* unlock
        yield* killAndRestart(setup)
        assert.deepStrictEqual(yield* setup.sql`SELECT id FROM video_job WHERE account_id = ${id}`, [])
      })
  },
  {
    name: "after the answer to the client",
    // The job may have reached the provider by then, or not.
    submitted: undefined,
    kill: (setup, { key }) => Effect.andThen(submit(setup, key, "k"), killAndRestart(setup))
  },
  // The gateway cannot know whether the provider accepted the job.
  { name: "during the call to submit", submitted: 2, kill: killDuring("submit") },
  { name: "during the call for the status", submitted: 1, kill: killDuring("status") },
  { name: "during the download of the clip", submitted: 1, kill: killDuring("clip") },
  {
    name: "during the transaction that ends the job",
    submitted: 1,
    kill: (setup, { id, key }) =>
      Effect.gen(function* () {
        const arrived = setup.fal.hang("status")
        yield* submit(setup, key, "k")
        yield* arrived
        const unlock = yield* lockBalance(setup.sql, id)
        yield* killAndRestart(setup)
        yield* untilLocked(setup.sql, "ledger_conclude")
        yield* setup.gateway.kill
        yield* unlock
        yield* killAndRestart(setup)
      })
  }
]

layer(VideoGateway.layer, { excludeTestServices: true, timeout: 120_000 })("a gateway", (it) => {
  for (const { submitted, kill, name } of moments) {
    it.effect(
      `that is killed ${name} leaves a video that is completed once and charged once`,
      () =>
        Effect.gen(function* () {
          const setup = yield* VideoGateway
          const { api, fal, sql } = setup
          const account = yield* setup.account
          const before = fal.calls.submit
          yield* kill(setup, account)
          // A retry under the same key returns the existing job.
          const { id } = yield* Effect.flatMap(submit(setup, account.key, "k"), json)
          const video = yield* Effect.repeat(Effect.flatMap(get(`${api}/videos/${id}`, account.key), json), {
            schedule: polling,
            until: ({ status }) => status === "completed" || status === "failed"
          })
          assert.deepInclude(video, { status: "completed", cost_usd: 1.6, refunded: false, provider: "fal" })
          const submissions = fal.calls.submit - before
          assert.include(submitted === undefined ? [1, 2] : [submitted], submissions)
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
