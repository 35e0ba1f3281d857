import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Result, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import {
  type Admission,
  MAX_ACCOUNT_BYTES,
  MAX_MESSAGES_PER_SESSION,
  MAX_SESSION_BYTES,
  MAX_SESSIONS_PER_ACCOUNT,
  Sessions
} from "../../src/sessions/Sessions.ts"
import type { SessionRow } from "../../src/sessions/SessionsSql.ts"
import { MESSAGE_BYTES, type RequestMessage, type Turn } from "../../src/sessions/Turn.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { giveBack, takeAway } from "../support/Outage.ts"

const rooms = (url: string) =>
  Layer.mergeAll(Sessions.layer, Accounts.layer).pipe(
    Layer.provideMerge(Audit.layer),
    Layer.provideMerge(layerUrl(url)),
    Layer.provideMerge(Logger.layer([]))
  )

/** Runs a body on a new database, with an account in it. */
const as = <A, E>(
  body: (account: string, url: string) => Effect.Effect<A, E, Sessions | Accounts | SqlClient.SqlClient>
) =>
  Effect.gen(function* () {
    const url = yield* freshDatabase("sessions")
    const work = Effect.gen(function* () {
      const { id } = yield* (yield* Accounts).create("s@example.com", { type: "operator", id: "t" })
      return yield* body(id, url)
    })
    yield* Effect.provide(work, rooms(url))
  }).pipe(Effect.scoped)

const nothing = { sessionId: undefined, metadata: undefined, model: undefined }

const opened = (account: string, sessionId?: string) =>
  Effect.flatMap(Sessions, (sessions) => sessions.open(account, { ...nothing, sessionId }))

/** Admits messages to a session as the database has it, except for the fields of `otherwise`. */
const admitted = (
  account: string,
  id: string,
  messages: ReadonlyArray<RequestMessage>,
  otherwise: Partial<SessionRow> = {}
) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const session = (yield* sessions.find(account, id)) ?? assert.fail("no session")
    return yield* sessions.admit({ accountId: account, session: { ...session, ...otherwise }, messages })
  })

/** Admits a turn and records it. */
const had = (account: string, id: string, one: Turn) =>
  Effect.gen(function* () {
    yield* (yield* Sessions).record(yield* admitted(account, id, one.messages), one)
  })

/** Returns the limit that an admission exceeds. */
const bound = (admission: Effect.Effect<unknown, { readonly _tag: string }, Sessions>) =>
  Effect.map(Effect.flip(admission), (error) => ("bound" in error ? error.bound : error._tag))

const user = (content: string): RequestMessage => ({ role: "user", content })

const turn = (name: string, messages: ReadonlyArray<RequestMessage>, content = `to ${name}`): Turn => ({
  name,
  messages,
  answer: { content, model: "m", usage: { total_tokens: 1 }, cost: 5n },
  free: false
})

const all = { end: 1_000, limit: 1_000, maxBytes: MAX_SESSION_BYTES }

const saidIn = (id: string) =>
  Effect.flatMap(Sessions, (sessions) =>
    Effect.map(sessions.messages(id, { from: 0, ...all }), (rows) =>
      rows.map(({ content }): unknown => JSON.parse(content))
    )
  )

describe("a session", () => {
  it.live("is the same for the same name of one account, even when two requests open it at once", () =>
    as((account) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const named = { sessionId: "mine", metadata: { a: 1 }, model: "m" }
        const both = yield* Effect.all([sessions.open(account, named), sessions.open(account, named)], {
          concurrency: 2
        })
        assert.strictEqual(both[0].id, both[1].id)
        const again = yield* sessions.open(account, { sessionId: "mine", metadata: { b: 2 }, model: "other" })
        assert.deepStrictEqual([again.metadata, again.model, again.messages], ['{"a":1}', "m", 0])
        const other = yield* (yield* Accounts).create("o@example.com", { type: "operator", id: "t" })
        assert.notStrictEqual((yield* opened(other.id, "mine")).id, again.id)
        assert.isUndefined(yield* sessions.find(other.id, again.id))
        assert.notStrictEqual((yield* opened(account)).id, (yield* opened(account)).id)
      })
    )
  )

  it.live("is found by its client's name and by its id, the name first", () =>
    as((account) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const first = yield* opened(account)
        assert.strictEqual((yield* sessions.findByName(account, first.id))?.id, first.id)
        const second = yield* opened(account, first.id)
        assert.strictEqual((yield* sessions.findByName(account, first.id))?.id, second.id)
        for (const name of ["nobody's", "\0", "\ud800"]) assert.isUndefined(yield* sessions.findByName(account, name))
      })
    )
  )

  it.live("cannot be opened beyond the account's limits on sessions and bytes", () =>
    as((account) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* opened(account, "known")
        yield* sql`INSERT INTO session (id, account_id, metadata)
          SELECT lpad(to_hex(n), 24, '0'), ${account}, '{}' FROM generate_series(3, ${MAX_SESSIONS_PER_ACCOUNT}) AS n`
        yield* sql`UPDATE session_total SET sessions = ${MAX_SESSIONS_PER_ACCOUNT - 1}`
        const several = Effect.forEach(["a", "b", "c"], (name) => Effect.result(opened(account, name)), {
          concurrency: "unbounded"
        })
        assert.lengthOf((yield* several).filter(Result.isSuccess), 1)
        assert.strictEqual(yield* bound(opened(account)), "sessions of the account")
        assert.strictEqual((yield* opened(account, "known")).id, id)
        yield* sql`UPDATE session_total SET sessions = 1, bytes = ${MAX_ACCOUNT_BYTES - 300}`
        const metadata = { long: "x".repeat(100) }
        const wide = (yield* Sessions).open(account, { ...nothing, metadata })
        assert.strictEqual(yield* bound(wide), "bytes of the account")
        yield* opened(account)
      })
    )
  )

  it.live("has its messages in order, each once, and their totals", () =>
    as((account) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { id } = yield* opened(account)
        yield* had(account, id, turn("one", [user("a")]))
        yield* had(account, id, turn("two", [user("a"), { role: "assistant", content: "to one" }, user("b")]))
        yield* had(account, id, turn("two", [user("b")]))
        yield* had(account, id, turn("three", [user("\0 \ud800")]))
        assert.deepStrictEqual(yield* saidIn(id), ["a", "to one", "b", "to two", "\0 \ud800", "to three"])
        const session = yield* sessions.find(account, id)
        const content = ["a", "to one", "b", "to two", "\0 \ud800", "to three"].map((text) => JSON.stringify(text))
        assert.deepStrictEqual(
          [session?.messages, Number(session?.bytes)],
          [6, content.reduce((sum, text) => sum + MESSAGE_BYTES + Buffer.byteLength(text), 0)]
        )
        const sql = yield* SqlClient.SqlClient
        const [total] = yield* sql<{ sessions: number; bytes: bigint }>`SELECT sessions, bytes FROM session_total`
        assert.deepStrictEqual(total, { sessions: 1, bytes: (session?.bytes ?? 0n) + 258n })
        const [, answer] = yield* sessions.messages(id, { ...all, from: 0, end: 2 })
        assert.deepInclude(answer, { role: "assistant", model: "m", usage: '{"total_tokens":1}', cost: 5n })
        assert.lengthOf(yield* sessions.messages(id, { ...all, from: 1, limit: 2 }), 2)
        const bytesOf = (maxBytes: number) =>
          Effect.map(sessions.messages(id, { ...all, from: 1, maxBytes }), (rows) => rows.length)
        assert.deepStrictEqual(
          [yield* bytesOf(1), yield* bytesOf(10), yield* bytesOf(11), yield* bytesOf(19)],
          [1, 1, 2, 3]
        )
      })
    )
  )

  it.live("has a system message once when the client repeats it, and a changed one in addition", () =>
    as((account) =>
      Effect.gen(function* () {
        const { id } = yield* opened(account)
        const assistant = (content: string): RequestMessage => ({ role: "assistant", content })
        const system = (content: string): RequestMessage => ({ role: "system", content })
        const talk = (from: number, to: number): ReadonlyArray<RequestMessage> => [
          ...Array.from({ length: to - from }, (_, at) => [user(`${from + at}`), assistant(`to ${from + at}`)]).flat(),
          user(`${to}`)
        ]
        const one = (to: number, messages: ReadonlyArray<RequestMessage>) => had(account, id, turn(`${to}`, messages))
        yield* one(0, [system("Be brief."), ...talk(0, 0)])
        for (let to = 1; to < 60; to++) yield* one(to, [system("Be brief."), ...talk(Math.max(0, to - 2), to)])
        const whole = ["Be brief.", ...Array.from({ length: 60 }, (_, at) => [`${at}`, `to ${at}`]).flat()]
        assert.deepStrictEqual(yield* saidIn(id), whole)
        const last = [system("Be brief."), ...talk(57, 59)]
        yield* had(account, id, { ...turn("free", last, "to 59"), free: true })
        yield* one(60, [system("Be polite."), ...talk(58, 60)])
        assert.deepStrictEqual(yield* saidIn(id), [...whole, "Be polite.", "60", "to 60"])
      })
    )
  )

  it.live("keeps concurrent turns whole", () =>
    as((account) =>
      Effect.gen(function* () {
        const { id } = yield* opened(account)
        const names = Array.from({ length: 8 }, (_, index) => `turn ${index}`)
        yield* Effect.forEach(names, (name) => had(account, id, turn(name, [user(name)])), {
          concurrency: "unbounded",
          discard: true
        })
        const said = yield* Effect.repeat(saidIn(id), { until: (all) => all.length === 16 })
        for (let at = 0; at < said.length; at += 2) assert.strictEqual(said[at + 1], `to ${String(said[at])}`)
        assert.deepStrictEqual(said.filter((_, at) => at % 2 === 0).toSorted(), names)
      })
    )
  )

  it.live("has room up to its limits; messages it already has do not count", () =>
    as((account) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* opened(account)
        yield* had(account, id, turn("one", [user("a")]))
        const room = (more: Partial<SessionRow>, messages: ReadonlyArray<RequestMessage>) =>
          Effect.tap(admitted(account, id, messages, more), ({ giveBack }) => Effect.sync(giveBack))
        const known = [user("a"), { role: "assistant", content: "to one" }]
        const full = { messages: MAX_MESSAGES_PER_SESSION - 2 }
        yield* room(full, [...known, user("b")])
        assert.strictEqual(yield* bound(room(full, [...known, user("b"), user("c")])), "messages of the session")
        // A message and the space reserved for an answer.
        const needed = MESSAGE_BYTES + 3 + 131_072
        const heavy = { bytes: BigInt(MAX_SESSION_BYTES - needed) }
        yield* room(heavy, [...known, user("b")])
        assert.strictEqual(yield* bound(room(heavy, [...known, user("bb")])), "bytes of the session")
        yield* sql`UPDATE session_total SET bytes = ${MAX_ACCOUNT_BYTES - needed}`
        yield* room({}, [...known, user("b")])
        assert.strictEqual(yield* bound(room({}, [...known, user("bb")])), "bytes of the account")
      })
    )
  )

  it.live("records every admitted turn of many concurrent ones, and admits only those that fit", () =>
    as((account) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { id } = yield* opened(account)
        const before = turn("before", [user("a")])
        yield* had(account, id, before)
        const conversation = [...before.messages, { role: "assistant", content: before.answer.content }]
        const turns = Array.from({ length: 24 }, (_, index) =>
          turn(`turn ${index}`, [...conversation, user(`${index} ${"x".repeat(1_500_000)}`)])
        )
        const admissions = yield* Effect.forEach(
          turns,
          (one) => Effect.result(Effect.map(admitted(account, id, one.messages), (room) => [room, one] as const)),
          { concurrency: "unbounded" }
        )
        const fitting = admissions.flatMap((one) => (Result.isSuccess(one) ? [one.success] : []))
        for (const one of admissions) if (Result.isFailure(one)) assert.strictEqual(one.failure._tag, "SessionsBusy")
        assert.lengthOf(fitting, 10)
        yield* Effect.forEach(fitting, ([admission, one]) => sessions.record(admission, one), {
          concurrency: "unbounded",
          discard: true
        })
        const roles = yield* Effect.repeat(saidIn(id), { until: (messages) => messages.length === 22 })
        assert.strictEqual(roles.filter((content) => content === "a").length, 1)
        const now = (yield* sessions.find(account, id))!
        assert.isAtMost(Number(now.bytes), MAX_SESSION_BYTES)
        const twice = [user("x".repeat(3_000_000))]
        assert.strictEqual(yield* bound(admitted(account, id, twice)), "bytes of the session")
      })
    )
  )

  it.live("does not record a free turn that repeats its last one", () =>
    as((account) =>
      Effect.gen(function* () {
        const { id } = yield* opened(account)
        const question = [user("a")]
        const hit = (name: string) => ({ ...turn(name, question, "A"), free: true })
        yield* had(account, id, turn("one", question, "A"))
        yield* had(account, id, hit("two"))
        yield* had(account, id, { ...turn("three", question, "A") })
        assert.lengthOf(yield* saidIn(id), 4)
        yield* had(account, id, turn("four", [user("b")], "B"))
        yield* had(account, id, hit("five"))
        yield* had(account, id, hit("six"))
        assert.deepStrictEqual(yield* saidIn(id), ["a", "A", "a", "A", "b", "B", "a", "A"])
      })
    )
  )
})

describe("an admission", () => {
  it.live("keeps its space until it is released, or until its record is written", () =>
    as((account, url) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { id } = yield* opened(account)
        const large = [user("x".repeat(MAX_SESSION_BYTES - 200_000))]
        const first = yield* admitted(account, id, large)
        assert.strictEqual(yield* bound(admitted(account, id, large)), "SessionsBusy")
        yield* sessions.release(first)
        const second = yield* admitted(account, id, large)
        const row = (yield* sessions.find(account, id))!
        yield* takeAway(url)
        yield* sessions.record(second, turn("one", large))
        yield* sessions.release(second)
        yield* giveBack(url)
        const again = sessions.admit({ accountId: account, session: row, messages: large })
        yield* again.pipe(
          Effect.retry({ while: (error) => error._tag !== "SessionsBusy", schedule: Schedule.spaced("50 millis") }),
          bound
        )
        const said = yield* Effect.repeat(saidIn(id), { until: (messages) => messages.length > 0 })
        assert.lengthOf(said, 2)
      })
    )
  )

  it.live("of several nodes is recorded up to twice the limit, and no further", () =>
    as((account) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const sessions = yield* Sessions
        const { id } = yield* opened(account)
        const late = yield* admitted(account, id, [user("a")])
        const later = yield* admitted(account, id, [user("b")])
        yield* sql`UPDATE session SET bytes = ${2 * MAX_SESSION_BYTES - 2 * MESSAGE_BYTES - 20}`
        yield* sessions.record(late, turn("one", [user("a")]))
        assert.lengthOf(yield* saidIn(id), 2)
        yield* sessions.record(later, turn("two", [user("b")]))
        assert.lengthOf(yield* saidIn(id), 2)
      })
    )
  )
})

describe("a record", () => {
  it.live("is written once the database is back, and the request does not wait for it", () =>
    as((account, url) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { id } = yield* opened(account)
        const admission = yield* admitted(account, id, [user("a")])
        yield* takeAway(url)
        yield* sessions.record(admission, turn("one", [user("a")]))
        yield* giveBack(url)
        const said = yield* saidIn(id).pipe(
          Effect.retry(Schedule.spaced("50 millis")),
          Effect.repeat({ until: (messages) => messages.length > 0 })
        )
        assert.deepStrictEqual(said, ["a", "to one"])
      })
    )
  )

  it.live("of an unknown session writes nothing", () =>
    as(() =>
      Effect.gen(function* () {
        const nowhere: Admission = {
          accountId: "0".repeat(24),
          session: "0".repeat(24),
          known: 0,
          giveBack: () => undefined,
          recording: false
        }
        yield* (yield* Sessions).record(nowhere, turn("one", [user("a")]))
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT FROM session_message`, [])
      })
    )
  )
})
