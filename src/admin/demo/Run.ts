/** Fills a sandbox's demo account with simulated days of real requests. */
import { Console, Data, Effect, Option, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { DAY_MS } from "../../domain/Day.ts"
import { Accounts } from "../../account/Accounts.ts"
import { csrfTokenOf, OwnerSessions } from "../../account/OwnerSessions.ts"
import { DEMO_EMAIL } from "../../billing/Sandbox.ts"
import { createDemoAccount, localOrigin, requestToTry } from "../../Demo.ts"
import { Config } from "../../platform/config/Config.ts"
import { makeRandom, type Moment, momentsOf } from "./Calendar.ts"
import { countOpen, followClock, forgetClock, setClockBack } from "./RunSql.ts"
import { receiver, type Send, sendLongWork } from "./LongWork.ts"
import { runBehind } from "./ShiftedClock.ts"
import { type Call, callAt, keyNames, projects, PROTOTYPE } from "./Traffic.ts"

/** The demo cannot continue, for a reason that its user can fix. */
export class DemoError extends Data.TaggedError("DemoError")<{ readonly message: string }> {}

/** How many days and requests to make, and the seed that determines them. */
export interface DemoOptions {
  readonly days: number
  readonly requests: number
  readonly seed: number
  /** Where the service will be once its operator starts it. The demo's own has a port of the system's choice. */
  readonly origin: string
}

/** The hint for a database failure at the end of the demo. */
const LEFT_BEHIND = "The demo's triggers are still in the database. Run the demo again, which removes them."

/** The amount of a top-up, in dollars of simulated money. The demo tops up on the first day and every ten days. */
const TOP_UP_USD = 60
const TOP_UP_EVERY_MS = 10 * DAY_MS

interface Owner {
  readonly api: string
  readonly cookie: string
  readonly csrfToken: string
}

/** A call as the signed-in owner. */
const asOwner = (
  { api, cookie, csrfToken }: Owner,
  path: string,
  body?: object,
  method: "GET" | "POST" | "DELETE" = "POST"
) =>
  Effect.tryPromise({
    try: async () => {
      const response = await fetch(`${api}${path}`, {
        method,
        headers: { cookie, "x-csrf-token": csrfToken, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const answer = await response.json()
      if (!response.ok)
        throw new Error(`${method} ${path} was answered with ${response.status}: ${JSON.stringify(answer)}`)
      return answer
    },
    catch: (error) => new DemoError({ message: String(error) })
  })

const topUp = (owner: Owner) =>
  Effect.gen(function* () {
    const { data } = yield* asOwner(owner, "/console/top-ups", { amount_usd: TOP_UP_USD })
    yield* asOwner(owner, `/console/top-ups/${data.id}/simulate`)
  })

interface KeyOrProject {
  readonly id: string
  readonly name: string
  readonly status: string
}

const activeOf = (owner: Owner, list: "keys" | "projects") =>
  Effect.map(
    asOwner(owner, `/management/${list}?limit=100`, undefined, "GET"),
    ({ data }): ReadonlyArray<KeyOrProject> => data.filter(({ status }: KeyOrProject) => status === "active")
  )

/** Revokes the demo's keys with these names. An account has few keys at a time, and an earlier demo's are of no use to a reader. */
const revokeKeys = (owner: Owner, names: ReadonlyArray<string>) =>
  Effect.flatMap(activeOf(owner, "keys"), (keys) =>
    Effect.forEach(
      keys.filter(({ name }) => names.includes(name)),
      ({ id }) => asOwner(owner, `/management/keys/${id}`, undefined, "DELETE")
    )
  )

/** The secrets of the keys by their names; they live in memory only. */
const makeKeys = (owner: Owner) =>
  Effect.gen(function* () {
    yield* revokeKeys(owner, keyNames)
    const known = new Map((yield* activeOf(owner, "projects")).map(({ id, name }) => [name, id]))
    const secrets = new Map<string, string>()
    const places = new Map<string, string>()
    for (const { keys, ...project } of projects) {
      const id = known.get(project.name) ?? (yield* asOwner(owner, "/management/projects", project)).data.id
      for (const key of keys) places.set(key, id)
    }
    for (const name of keyNames) {
      const project = places.get(name)
      const created = yield* asOwner(owner, "/management/keys", {
        name,
        ...(project === undefined ? {} : { project_id: project })
      })
      secrets.set(name, created.key)
    }
    return secrets
  })

/** The events that the demo's endpoints receive. */
const EVENTS = ["video.completed", "video.failed", "budget.threshold"]

/** Registers one endpoint that takes every message and one that is gone, in place of those of an earlier demo. */
const makeWebhooks = (owner: Owner, address: string) =>
  Effect.gen(function* () {
    const { data } = yield* asOwner(owner, "/management/webhooks", undefined, "GET")
    for (const { id, url } of data as ReadonlyArray<{ readonly id: string; readonly url: string }>)
      if (url.startsWith("http://localhost:")) yield* asOwner(owner, `/management/webhooks/${id}`, undefined, "DELETE")
    for (const path of ["/old", "/tollgate-events"])
      yield* asOwner(owner, "/management/webhooks", { url: `${address}${path}`, events: EVENTS })
  })

/** Sends a request of one key that must succeed. */
const sendAs =
  (api: string, secret: string | undefined): Send =>
  async (path, body, play) => {
    const isForm = body instanceof FormData
    const response = await fetch(`${api}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        ...(isForm ? {} : { "content-type": "application/json" }),
        ...(play === undefined ? {} : { "x-svc-sandbox": play })
      },
      body: isForm ? body : JSON.stringify(body)
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`POST ${path} was answered with ${response.status}: ${text}`)
    return JSON.parse(text)
  }

/** Sends a request and reads its answer to the end. Refusals and failures are part of the demo. */
const send = (api: string, secrets: ReadonlyMap<string, string>, { body, hangUpMs, key, path, play }: Call) =>
  Effect.promise(async () => {
    const headers = {
      authorization: `Bearer ${secrets.get(key)}`,
      "content-type": "application/json",
      "x-svc-sandbox": play
    }
    const signal = hangUpMs === undefined ? {} : { signal: AbortSignal.timeout(hangUpMs) }
    try {
      const response = await fetch(`${api}${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
        ...signal
      })
      await response.arrayBuffer()
      return response.ok
    } catch {
      return false
    }
  })

/** Moves both clocks to a moment. */
const moveTo = (sql: SqlClient.SqlClient, behindMs: number) =>
  Effect.andThen(
    setClockBack(sql, behindMs),
    Effect.sync(() => runBehind(behindMs))
  )

/** Returns the demo account. Creates it in a sandbox without one, and prints its keys. */
const demoOwner = Effect.gen(function* () {
  const [accounts, sessions, sql] = [yield* Accounts, yield* OwnerSessions, yield* SqlClient.SqlClient]
  const created = yield* createDemoAccount
  const account = yield* accounts.findByEmail(DEMO_EMAIL)
  if (account === undefined)
    return yield* new DemoError({
      message: `There is no account ${DEMO_EMAIL}; the demo fills that of a first start`
    })
  const { id, token } = yield* sql.withTransaction(sessions.begin(account.id))
  const api = `${yield* localOrigin}/api/v1`
  const owner: Owner = { api, cookie: `svc_session=${token}`, csrfToken: csrfTokenOf(token) }
  return { account, created, owner, end: sql.withTransaction(sessions.end(account.id, id)) }
})

/** Waits until every request has ended. After a hang-up the settlement follows a little later, and the clock must not jump before it. */
const allEnded = (sql: SqlClient.SqlClient, accountId: string) =>
  countOpen(sql, accountId).pipe(
    Effect.repeat({
      schedule: Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "30 seconds" })),
      until: (open) => open === 0
    })
  )

/** The number of moments of the demo that also begin videos and a batch. */
const LONG_MOMENTS = 5

/** Simulates the days. Every request of a moment ends before the next moment begins. */
const live = (
  sql: SqlClient.SqlClient,
  accountId: string,
  owner: Owner,
  moments: ReadonlyArray<Moment>,
  random: () => number
) =>
  Effect.gen(function* () {
    let [sent, served, paidAt] = [0, 0, Infinity]
    let secrets: ReadonlyMap<string, string> = new Map()
    const address = yield* receiver
    const every = Math.max(1, Math.floor(moments.length / LONG_MOMENTS))
    for (const [index, { behindMs, requests }] of moments.entries()) {
      yield* moveTo(sql, behindMs)
      if (secrets.size === 0) {
        secrets = yield* makeKeys(owner)
        yield* makeWebhooks(owner, address)
      }
      if (paidAt - behindMs >= TOP_UP_EVERY_MS) {
        yield* topUp(owner)
        paidAt = behindMs
      }
      const hour = new Date().getUTCHours()
      const calls = Array.from({ length: requests }, () => callAt(random, hour))
      const outcomes = yield* Effect.forEach(calls, (call) => send(owner.api, secrets, call), {
        concurrency: 32
      })
      if ((index + 1) % every === 0) {
        const [video, batch] = [PROTOTYPE, "Nightly pipeline"].map((name) => sendAs(owner.api, secrets.get(name)))
        yield* Effect.tryPromise({
          try: () => sendLongWork(video!, batch!, Math.floor(index / every)),
          catch: (error) => new DemoError({ message: String(error) })
        })
      }
      yield* allEnded(sql, accountId)
      sent += outcomes.length
      served += outcomes.filter(Boolean).length
    }
    // The prototype has ended, which leaves room for a key of the reader's.
    yield* revokeKeys(owner, [PROTOTYPE])
    return { sent, served }
  }).pipe(Effect.scoped)

/** Rejects invalid options before the service starts. */
export const checkOptions = ({ days, requests, seed }: Omit<DemoOptions, "origin">): Effect.Effect<void, DemoError> =>
  days >= 2 && days <= 90 && requests >= 1 && requests <= 100_000 && Number.isInteger(seed)
    ? Effect.void
    : new DemoError({ message: "--days must be 2 to 90, --requests 1 to 100,000, and --seed a whole number." })

/** Runs the demo on the service that is built beside it. */
export const runDemo = Effect.fn("runDemo")(function* ({ days, origin, requests, seed }: DemoOptions) {
  const { sandbox } = yield* Config
  if (!sandbox)
    return yield* new DemoError({
      message: "The demo needs a sandbox, which simulates providers and money: set SANDBOX=on"
    })
  const sql = yield* SqlClient.SqlClient
  const random = makeRandom(seed)
  const moments = momentsOf(days, requests, Date.now(), random)
  const began = performance.now()
  const { account, created, end, owner } = yield* demoOwner
  const { sent, served } = yield* followClock(sql, account.id).pipe(
    Effect.andThen(live(sql, account.id, owner, moments, random)),
    Effect.ensuring(Effect.catch(Effect.andThen(forgetClock(sql), end), () => Console.error(LEFT_BEHIND))),
    Effect.ensuring(Effect.sync(() => runBehind(0)))
  )
  const seconds = Math.round((performance.now() - began) / 1_000)
  yield* Console.log(
    `Sent ${sent.toLocaleString("en-US")} requests over ${days} simulated days in ${seconds} s; ${served.toLocaleString("en-US")} were ` +
      `served, and the rest failed or were cancelled as they should. Start the service with \`npm start\` and sign in as ${DEMO_EMAIL}.`
  )
  if (Option.isSome(created)) yield* Console.log(`\n${requestToTry(origin, created.value.inferenceKey)}`)
  return Option.some({ sent, served })
})
