import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import {
  MAX_MESSAGES_PER_SESSION,
  MAX_SESSION_BYTES,
  MAX_SESSIONS_PER_ACCOUNT,
  Sessions
} from "../../src/sessions/Sessions.ts"
import type { SessionRow } from "../../src/sessions/SessionsSql.ts"
import type { SaidMessage, Turn } from "../../src/sessions/Turn.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { giveBack, takeAway } from "../support/Outage.ts"

const rooms = (url: string) =>
  Layer.mergeAll(Sessions.layer, Accounts.layer).pipe(
    Layer.provideMerge(Audit.layer),
    Layer.provideMerge(layerUrl(url)),
    Layer.provideMerge(Logger.layer([]))
  )

/** On a database of its own, as an account of it. */
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
  Effect.flatMap(Sessions, (sessions) =>
    Effect.map(
      sessions.open(account, { ...nothing, sessionId }),
      (session): SessionRow => session ?? assert.fail("was not opened")
    )
  )

const user = (content: string): SaidMessage => ({ role: "user", content })

const turn = (name: string, messages: ReadonlyArray<SaidMessage>, content = `to ${name}`): Turn => ({
  name,
  messages,
  answer: { content, model: "m", usage: { total_tokens: 1 }, cost: 5n }
})

const saidIn = (id: string) =>
  Effect.flatMap(Sessions, (sessions) =>
    Effect.map(sessions.messages(id, { from: 0, end: 1_000, limit: 1_000 }), (rows) =>
      rows.map(({ content }): unknown => JSON.parse(content))
    )
  )

describe("a session", () => {
  it.live("is the same for the same name of one account, even of two at once", () =>
    as((account) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const named = { sessionId: "mine", metadata: { a: 1 }, model: "m" }
        const both = yield* Effect.all([sessions.open(account, named), sessions.open(account, named)], {
          concurrency: 2
        })
        assert.strictEqual(both[0]?.id, both[1]?.id)
        const again = yield* sessions.open(account, { sessionId: "mine", metadata: { b: 2 }, model: "other" })
        assert.deepStrictEqual([again?.metadata, again?.model, again?.messages], ['{"a":1}', "m", 0])
        const other = yield* (yield* Accounts).create("o@example.com", { type: "operator", id: "t" })
        assert.notStrictEqual((yield* opened(other.id, "mine")).id, again?.id)
        assert.isUndefined(yield* sessions.find(other.id, again!.id))
        assert.notStrictEqual((yield* opened(account)).id, (yield* opened(account)).id)
      })
    )
  )

  it.live("is found by its caller's name and by its id, the name first", () =>
    as((account) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const first = yield* opened(account)
        assert.strictEqual((yield* sessions.named(account, first.id))?.id, first.id)
        const second = yield* opened(account, first.id)
        assert.strictEqual((yield* sessions.named(account, first.id))?.id, second.id)
        for (const name of ["nobody's", "\0"]) assert.isUndefined(yield* sessions.named(account, name))
      })
    )
  )

  it.live("is one of a bounded number", () =>
    as((account) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* opened(account, "known")
        yield* sql`INSERT INTO session (id, account_id, metadata)
          SELECT lpad(to_hex(n), 24, '0'), ${account}, '{}' FROM generate_series(2, ${MAX_SESSIONS_PER_ACCOUNT}) AS n`
        const sessions = yield* Sessions
        assert.isUndefined(yield* sessions.open(account, nothing))
        assert.strictEqual((yield* opened(account, "known")).id, id)
      })
    )
  )

  it.live("has what was said in order, each once, and its sums", () =>
    as((account) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { id } = yield* opened(account)
        yield* sessions.record(id, turn("one", [user("a")]))
        yield* sessions.record(id, turn("two", [user("a"), { role: "assistant", content: "to one" }, user("b")]))
        yield* sessions.record(id, turn("two", [user("b")]))
        yield* sessions.record(id, turn("three", [user("\0 \ud800")]))
        assert.deepStrictEqual(yield* saidIn(id), ["a", "to one", "b", "to two", "\0 \ud800", "to three"])
        const session = yield* sessions.find(account, id)
        const content = ["a", "to one", "b", "to two", "\0 \ud800", "to three"].map((text) => JSON.stringify(text))
        assert.deepStrictEqual(
          [session?.messages, Number(session?.bytes)],
          [6, content.reduce((sum, text) => sum + Buffer.byteLength(text), 0)]
        )
        const [, answer] = yield* sessions.messages(id, { from: 0, end: 2, limit: 5 })
        assert.deepInclude(answer, { role: "assistant", model: "m", usage: '{"total_tokens":1}', cost: 5n })
        assert.lengthOf(yield* sessions.messages(id, { from: 1, end: 6, limit: 2 }), 2)
      })
    )
  )

  it.live("keeps turns whole that come at once", () =>
    as((account) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { id } = yield* opened(account)
        const names = Array.from({ length: 8 }, (_, index) => `turn ${index}`)
        yield* Effect.forEach(names, (name) => sessions.record(id, turn(name, [user(name)])), {
          concurrency: "unbounded",
          discard: true
        })
        const said = yield* Effect.repeat(saidIn(id), { until: (all) => all.length === 16 })
        for (let at = 0; at < said.length; at += 2) assert.strictEqual(said[at + 1], `to ${String(said[at])}`)
        assert.deepStrictEqual(said.filter((_, at) => at % 2 === 0).toSorted(), names)
      })
    )
  )

  it.live("has room until it has its most messages or bytes, of which those known to it take none", () =>
    as((account) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const row = yield* opened(account)
        yield* sessions.record(row.id, turn("one", [user("a")]))
        const room = (more: Partial<SessionRow>, messages: ReadonlyArray<SaidMessage>) =>
          sessions.hasRoom({ ...row, ...more }, messages)
        const known = [user("a"), { role: "assistant", content: "to one" }]
        const full = { messages: MAX_MESSAGES_PER_SESSION - 2 }
        assert.isTrue(yield* room(full, [...known, user("b")]))
        assert.isFalse(yield* room(full, [...known, user("b"), user("c")]))
        const heavy = { bytes: BigInt(MAX_SESSION_BYTES - 4) }
        assert.isTrue(yield* room(heavy, [...known, user("b")]))
        assert.isFalse(yield* room(heavy, [...known, user("bb")]))
      })
    )
  )
})

describe("a record", () => {
  it.live("is made once the database is back, and nobody waits for it", () =>
    as((account, url) =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { id } = yield* opened(account)
        yield* takeAway(url)
        yield* sessions.record(id, turn("one", [user("a")]))
        yield* giveBack(url)
        const said = yield* saidIn(id).pipe(
          Effect.retry(Schedule.spaced("50 millis")),
          Effect.repeat({ until: (all) => all.length > 0 })
        )
        assert.deepStrictEqual(said, ["a", "to one"])
      })
    )
  )

  it.live("of a session that is not there is none", () =>
    as(() =>
      Effect.gen(function* () {
        yield* (yield* Sessions).record("0".repeat(24), turn("one", [user("a")]))
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT FROM session_message`, [])
      })
    )
  )
})
