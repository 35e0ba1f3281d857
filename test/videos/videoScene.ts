/** Videos on a real database with providers of the test's own, and processes that die between any two of their steps. */
import { assert } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Auth } from "../../src/auth/Auth.ts"
import { Customers, OPERATOR } from "../../src/billing/Customers.ts"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { noChanges } from "../../src/catalogue/Changes.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import type { OverlayPrice } from "../../src/catalogue/Overlay.ts"
import type { Nano } from "../../src/domain/Money.ts"
import { defaultPolicy } from "../../src/domain/Plan.ts"
import type { VideoOptions } from "../../src/domain/Video.ts"
import { Videos, type VideoRequest, type VideosOptions } from "../../src/videos/Videos.ts"
import { Jobs } from "../../src/jobs/Jobs.ts"
import { VideoJobs } from "../../src/videos/VideoJobs.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { verify } from "../../src/ledger/Verify.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { DataDirectory } from "../../src/platform/database/DataDirectory.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { Media } from "../../src/platform/files/Media.ts"
import { Outbound } from "../../src/platform/outbound/Outbound.ts"
import { PublicFetch } from "../../src/platform/outbound/PublicFetch.ts"
import { PublicUrl } from "../../src/platform/outbound/PublicUrl.ts"
import { Secrets } from "../../src/platform/Secrets.ts"
import type { Provider } from "../../src/providers/Provider.ts"
import { ProviderError, type ProviderFault } from "../../src/providers/ProviderError.ts"
import { ProviderPool } from "../../src/providers/pool/ProviderPool.ts"
import type { VideoJobState, VideoWork, MediaBytes } from "../../src/domain/Work.ts"
import { Router } from "../../src/router/Router.ts"
import { Requests } from "../../src/usage/Requests.ts"
import { Outbox } from "../../src/webhooks/Outbox.ts"
import { Sender } from "../../src/webhooks/Sender.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { layer as database } from "../support/Database.ts"

export const BALANCE = 100_000_000_000n

export const videoOptions: VideoOptions = {
  duration: 4,
  aspectRatio: "16:9",
  imageUrl: undefined,
  referenceImages: [],
  referenceVideo: undefined,
  audio: false
}

/** Four seconds of `veo-3` at fal, and at the other host that a test adds. */
export const FAL_COST = 1_600_000_000n
export const OTHER_COST = 2_000_000_000n

export const fails = (provider: string, fault: ProviderFault) => Effect.fail(new ProviderError({ provider, fault }))

export const serverError: ProviderFault = { _tag: "ServerError", status: 500, detail: "down" }
export const lostAnswer: ProviderFault = { _tag: "Broken", detail: "reset" }

const notAsked = () => Effect.die(new Error("asked for a chat"))

/** Does at a provider what a test says, and notes what it was asked. */
export class FilmHost {
  readonly id: string
  /** What jobs were handed in, whether they were taken or not. */
  readonly filmed: Array<VideoWork> = []
  asked = 0
  read = 0
  makeVideo: () => Effect.Effect<{ readonly ticket: string }, ProviderError> = () => Effect.succeed({ ticket: "t" })
  /** What is answered to the question how far it is; the last one again and again. */
  states: Array<Effect.Effect<VideoJobState, ProviderError>> = [
    Effect.succeed({ _tag: "Processing", progress: 30 }),
    Effect.succeed({ _tag: "Completed", clip: { url: "https://clips.example/1" } })
  ]
  clip: Effect.Effect<MediaBytes, ProviderError> = Effect.succeed({
    bytes: new Uint8Array([1, 2, 3]),
    contentType: "video/mp4"
  })

  constructor(id: string) {
    this.id = id
  }

  get provider(): Provider {
    return {
      id: this.id,
      stopsBillingOnAbort: true,
      chat: notAsked,
      chatStream: notAsked,
      makeVideo: (_, work) =>
        Effect.suspend(() => {
          this.filmed.push(work)
          return this.makeVideo()
        }),
      videoState: () =>
        Effect.suspend(() => {
          const at = Math.min(this.asked++, this.states.length - 1)
          return this.states[at]!
        }),
      videoClip: () =>
        Effect.suspend(() => {
          this.read += 1
          return this.clip
        })
    }
  }
}

/**
 * A process that dies: at the step with this number it does nothing more, ever, as if it were gone. Steps are what it asks of others,
 * each counted before it is asked and after it was answered.
 */
export class Mortal {
  readonly dead = Deferred.makeUnsafe<void>()
  steps = 0
  readonly #at: number

  constructor(at = Number.POSITIVE_INFINITY) {
    this.#at = at
  }

  readonly pass = Effect.suspend((): Effect.Effect<void> => {
    if (Deferred.isDoneUnsafe(this.dead)) return Effect.never
    this.steps += 1
    if (this.steps !== this.#at) return Effect.void
    // A transaction that its process leaves is rolled back, as it is behind this.
    return Effect.andThen(Deferred.succeed(this.dead, undefined), Effect.die(new Error("the process died")))
  })

  step = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.gen({ self: this }, function* () {
      yield* this.pass
      const answer = yield* effect
      yield* this.pass
      return answer
    })

  /** The same service, each call of which is a step. */
  #over<S extends object>(service: S): S {
    const step = this.step
    return new Proxy(service, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== "function" || name === "urlOf") return member
        return (...args: ReadonlyArray<unknown>) => step(member.apply(target, args) as Effect.Effect<unknown>)
      }
    })
  }

  readonly services = Effect.gen({ self: this }, function* () {
    const sql = yield* SqlClient.SqlClient
    const step = this.step
    const mortalSql = new Proxy(sql, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (name !== "withTransaction") return member
        return <A, E, R>(work: Effect.Effect<A, E, R>) => step(target.withTransaction(work))
      }
    })
    const pool = yield* ProviderPool
    const ledger = yield* Ledger
    const within = this.#over({ within: ledger.within, conclude: ledger.conclude })
    return Layer.mergeAll(
      Layer.succeed(SqlClient.SqlClient, mortalSql),
      Layer.succeed(VideoJobs, this.#over(yield* VideoJobs)),
      Layer.succeed(Ledger, { ...ledger, ...within }),
      Layer.succeed(Media, this.#over(yield* Media)),
      Layer.succeed(Webhooks, this.#over(yield* Webhooks)),
      Layer.succeed(Jobs, { ...(yield* Jobs), enqueue: this.#over(yield* Jobs).enqueue }),
      Layer.succeed(ProviderPool, {
        ...pool,
        ask: ((call, attempt) => step(pool.ask(call, attempt))) as typeof pool.ask
      })
    )
  })
}

const clocks = { connectMs: 60_000, firstTokenMs: 60_000, idleMs: 60_000, totalMs: 60_000 }

const other = {
  id: "other",
  name: "Other",
  apiKey: Redacted.make("k"),
  keyed: true,
  trainsOnData: false,
  zeroRetention: false,
  baseUrl: new URL("https://other.example"),
  models: new Map([["veo-3", "veo-3-there"]])
}

const otherPrice: OverlayPrice = { model: "veo-3", provider: "other", unit: "second", usd: 0.5, source: "this test" }

const usual: VideosOptions = { deadline: Duration.minutes(30), perProvider: 20, retention: Duration.days(30) }

const directory = Layer.effect(
  DataDirectory,
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-videos-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    ),
    (path) => ({ path })
  )
)

const webhooks = Webhooks.layer.pipe(Layer.provide([Outbox.layer, Sender.layer]), Layer.provide(Secrets.layer))

export interface SceneOptions {
  readonly hosts?: ReadonlyArray<FilmHost>
  readonly options?: Partial<VideosOptions>
  readonly balance?: Nano
}

/** A service of videos, and an account to call it as; `caller` opens others. */
export const scene = ({ balance = BALANCE, hosts = [new FilmHost("fal")], options = {} }: SceneOptions = {}) =>
  Effect.gen(function* () {
    const providers = hosts.map(({ provider }) => provider)
    const hasOther = hosts.some(({ id }) => id === "other")
    const catalogue = Catalogue.layerFrom({
      sandbox: false,
      keyed: new Set(hosts.map(({ id }) => id)),
      hosts: hasOther ? [other] : [],
      changes: {
        load: Effect.succeed({ ...noChanges, prices: hasOther ? [otherPrice] : [] }),
        version: Effect.succeed("")
      }
    })
    const rooms = Layer.mergeAll(VideoJobs.layer, webhooks, Requests.layer, Router.layer).pipe(
      Layer.provideMerge(ProviderPool.layerFrom({ providers, clocks, observe: () => undefined })),
      Layer.provideMerge(Layer.mergeAll(catalogue, LiveFigures.layer, PublicFetch.layerFrom({ allowLoopback: true }))),
      Layer.provideMerge(Layer.mergeAll(Auth.layer, Customers.layer, Media.layer)),
      Layer.provideMerge(Layer.mergeAll(Ledger.layer, Accounts.layer, Keys.layer, PublicUrl.layer)),
      Layer.provideMerge(
        Jobs.layerFrom({
          lease: "30 seconds",
          pollInterval: "100 millis",
          idlePollInterval: "100 millis",
          grace: "1 second"
        })
      ),
      Layer.provideMerge(Audit.layer),
      Layer.provideMerge(Layer.mergeAll(database, directory, Outbound.layer)),
      Layer.provide(Config.layerFrom({ PUBLIC_URL: "https://gate.example" }))
    )
    const context = yield* Layer.build(rooms)
    return yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* Ledger
      const customers = yield* Customers
      const auth = yield* Auth
      let accounts = 0
      const caller = Effect.gen(function* () {
        const opened = yield* customers.open(`videos-${accounts++}@example.com`, balance, OPERATOR)
        const accountId = opened.account.id
        const principal = yield* auth.authenticate(`Bearer ${opened.inferenceKey}`, "inference")
        return {
          accountId,
          keyId: principal.keyId,
          request: (more: Partial<VideoRequest> = {}): VideoRequest => ({
            requestId: newRequestId(),
            operation: "videos",
            principal,
            model: "veo-3",
            policy: defaultPolicy,
            claim: undefined,
            steering: undefined,
            arrivedAt: performance.now(),
            prompt: "a kite",
            options: videoOptions,
            ...more
          }),
          money: Effect.map(ledger.balance(accountId), (found) => found!),
          rows: sql<{ id: string; state: string }>`SELECT id, state FROM video_job
            WHERE account_id = ${accountId} ORDER BY id`,
          events: sql<{ type: string; body: string }>`SELECT type, body FROM webhook_event
            WHERE account_id = ${accountId} ORDER BY id`,
          files: sql<{ id: string }>`SELECT id FROM file WHERE account_id = ${accountId}`
        }
      })
      /** A process of the service, which may die at one of its steps. */
      const processOf = (mortal: Mortal = new Mortal(), more: Partial<VideosOptions> = {}) =>
        Effect.gen(function* () {
          const services = yield* mortal.services
          const layer = Videos.layerFrom({ ...usual, ...options, ...more }).pipe(Layer.provide(services))
          const built = yield* Layer.build(Layer.fresh(layer))
          return yield* Effect.provide(
            Effect.map(Videos, (videos) => videos),
            built
          )
        }).pipe(Effect.provide(context))
      /** Leases are over, and what is due is due now. */
      const later = sql`UPDATE video_job SET busy_until = NULL, polled_at = NULL, next_poll_at = now() - interval '1 hour'
        WHERE completed_at IS NULL`
      return {
        ...(yield* caller),
        caller,
        sql,
        ledger,
        later,
        processOf,
        videos: yield* processOf(),
        jobs: yield* VideoJobs,
        queue: yield* Jobs,
        requests: yield* Requests,
        media: yield* Media,
        /** Steps a job until it has ended, as a worker does for whom no time passes. */
        finish: (videos: Videos["Service"], id: string) =>
          Effect.gen(function* () {
            for (let steps = 1; steps <= 60; steps++) {
              if ((yield* videos.step(id)) === "done") return steps
              yield* later
            }
            return assert.fail("the job does not end")
          }),
        faults: Effect.map(verify(sql), ({ checks }) => checks.filter(({ ok }) => !ok))
      }
    }).pipe(Effect.provide(context))
  })

/** What a process came to: an answer, a failure, or its death, after which nothing of it runs on. */
export const lived = <A, E>(mortal: Mortal, work: Effect.Effect<A, E>): Effect.Effect<A | "died", E> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkDetach(Effect.exit(work), { startImmediately: true })
    const died = Effect.as(Deferred.await(mortal.dead), "died" as const)
    const exit = yield* Effect.raceFirst(Fiber.join(fiber), died)
    if (exit === "died" || Deferred.isDoneUnsafe(mortal.dead)) return "died"
    return yield* exit
  })
