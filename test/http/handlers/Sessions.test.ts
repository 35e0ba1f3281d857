import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { MAX_METADATA_BYTES, Session, SessionExport } from "../../../schemas/inference/Sessions.ts"
import { messageOf, sessionOf } from "../../../src/http/handlers/Sessions.ts"
import { takeAway } from "../../support/Outage.ts"
import { get, json, post, startService } from "../../support/Service.ts"
import { eventually } from "../../support/Eventually.ts"

const decodeSession = Schema.decodeUnknownSync(Session, { onExcessProperty: "error" })
const decodeExport = Schema.decodeUnknownSync(SessionExport, { onExcessProperty: "error" })

const caller = Effect.gen(function* () {
  const service = yield* startService()
  const { inferenceKey: key } = yield* service.account(10)
  return {
    service,
    key,
    open: (body: unknown, headers: Record<string, string> = {}) => post(`${service.api}/sessions`, key, body, headers),
    exported: (id: string) => get(`${service.api}/sessions/${id}/export`, key)
  }
})

const row = {
  id: "0123456789abcdef01234567",
  session_id: null,
  model: null,
  metadata: '{"a":[1]}',
  messages: 2,
  bytes: 9n,
  created_at: new Date(1_700_000_000_900),
  updated_at: new Date(1_700_000_001_000)
}

describe("a session in the API", () => {
  it("has the contract's form", () =>
    assert.deepStrictEqual(decodeSession(sessionOf(row)), {
      id: row.id,
      object: "session",
      created_at: 1_700_000_000,
      updated_at: 1_700_000_001,
      session_id: null,
      model: null,
      metadata: { a: [1] },
      message_count: 2
    }))

  it("contains the present fields of a message", () => {
    const said = { role: "user", content: '"a"', created_at: row.created_at, model: null, usage: null, cost: null }
    assert.deepStrictEqual(messageOf(said), { role: "user", content: "a", created_at: 1_700_000_000 })
    const answer = { ...said, role: "assistant", model: "m", usage: "{}", cost: 5_000_000n }
    assert.deepInclude(messageOf(answer), { model: "m", cost_usd: 0.005 })
  })
})

describe("POST /sessions", () => {
  it.live("opens a session, and returns the existing one for a known name", () =>
    Effect.gen(function* () {
      const { open } = yield* caller
      const plain = decodeSession(yield* Effect.flatMap(open({}), json))
      assert.deepInclude(plain, { session_id: null, model: null, metadata: {}, message_count: 0 })
      const nulls = decodeSession(yield* Effect.flatMap(open({ session_id: null, metadata: null, model: null }), json))
      assert.notStrictEqual(nulls.id, plain.id)
      const body = { session_id: "mine", metadata: { nested: { a: [1, null, "é"] } }, model: "gpt-4o-mini" }
      const first = yield* open(body)
      const again = yield* open({ session_id: "mine", metadata: { other: true } })
      assert.deepStrictEqual([first.status, again.status], [200, 200])
      const made = decodeSession(yield* json(first))
      assert.deepInclude(made, body)
      assert.deepStrictEqual(yield* json(again), made)
    }).pipe(Effect.scoped)
  )

  it.live("opens one session per idempotency key", () =>
    Effect.gen(function* () {
      const { open } = yield* caller
      const once = (body: object) => open(body, { "idempotency-key": "the-same" })
      const tries = [yield* once({ metadata: { a: 1 } }), yield* once({ metadata: { a: 1 } })]
      const [one, two] = yield* Effect.forEach(tries, json)
      assert.deepStrictEqual(decodeSession(one), two)
      assert.sameMembers(
        tries.map(({ headers }) => headers.get("idempotency-replayed")),
        [null, "true"]
      )
      const other = yield* once({})
      assert.deepInclude(yield* json(other), { code: "idempotency_key_reused" })
      assert.notStrictEqual((yield* Effect.flatMap(open({ metadata: { a: 1 } }), json)).id, one.id)
      const long = yield* open({}, { "idempotency-key": "k".repeat(256) })
      assert.strictEqual(long.status, 400)
    }).pipe(Effect.scoped)
  )

  it.live("names invalid fields in the legacy error format", () =>
    Effect.gen(function* () {
      const { open } = yield* caller
      const wrongs = [
        [{ session_id: "" }, "session_id"],
        [{ session_id: "a\0b" }, "session_id"],
        [{ session_id: "x".repeat(257) }, "session_id"],
        [{ metadata: [] }, "metadata"],
        [{ metadata: { long: "x".repeat(MAX_METADATA_BYTES) } }, "metadata"],
        [{ model: "" }, "model"],
        [{ banana: 1 }, "banana"],
        [[], "body"]
      ] as const
      for (const [body, field] of wrongs) {
        const response = yield* open(body)
        const said = yield* json(response)
        assert.deepStrictEqual(
          [response.status, said.code, said.error.param, said.request_id],
          [400, "validation_error", field, response.headers.get("x-request-id")],
          field
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("returns 503 while the database is down, as the export does", () =>
    Effect.gen(function* () {
      const { exported, open, service } = yield* caller
      const { id } = yield* Effect.flatMap(open({}), json)
      yield* takeAway(service.databaseUrl)
      for (const response of [yield* open({}), yield* exported(id)]) {
        assert.deepStrictEqual([response.status, (yield* json(response)).code], [503, "store_unavailable"])
      }
    }).pipe(Effect.scoped)
  )
})

describe("GET /sessions/{id}/export", () => {
  it.live("returns a long session completely and in order", () =>
    Effect.gen(function* () {
      const { exported, key, open, service } = yield* caller
      const { id } = yield* Effect.flatMap(open({ session_id: "s" }), json)
      const content = (at: number) => `${at} ${"é".repeat(200)}`
      const roles = ["user", "assistant"] as const
      const messages = Array.from({ length: 100 }, (_, at) => ({ role: roles[at % 2], content: content(at) }))
      for (const part of [messages, messages.map((one) => ({ ...one, content: `more ${one.content}` }))]) {
        const answer = yield* post(`${service.api}/chat`, key, {
          model: "gpt-4o-mini",
          messages: part,
          session_id: "s"
        })
        assert.strictEqual(answer.status, 200, yield* Effect.promise(() => answer.text()))
      }
      // What was said is written down behind its answer where that takes long.
      yield* eventually(Effect.flatMap(exported(id), json), ({ messages: written }) => written.length === 202)
      const response = yield* exported(id)
      assert.strictEqual(response.headers.get("content-type"), "application/json")
      const { exported_at, messages: said, session } = decodeExport(yield* json(response))
      assert.deepStrictEqual([session.message_count, said.length], [202, 202])
      assert.deepStrictEqual(
        [...said.slice(0, 100), ...said.slice(101, 201)].map((one) => one.content),
        [...messages.map((one) => one.content), ...messages.map((one) => `more ${one.content}`)]
      )
      assert.isAtLeast(exported_at, session.updated_at)
    }).pipe(Effect.scoped)
  )

  it.live("returns 404 for other accounts' sessions and for invalid ids", () =>
    Effect.gen(function* () {
      const { exported, open, service } = yield* caller
      const other = yield* service.account(1)
      const { id } = yield* Effect.flatMap(open({ session_id: "named" }), json)
      const foreign = yield* get(`${service.api}/sessions/${id}/export`, other.inferenceKey)
      const responses = [foreign]
      for (const one of ["0".repeat(24), "named", "a%00b", id.toUpperCase()]) responses.push(yield* exported(one))
      for (const response of responses) {
        const { code, error } = yield* json(response)
        assert.deepStrictEqual([response.status, code, error.type], [404, "not_found", "not_found_error"])
      }
      assert.strictEqual((yield* exported(id)).status, 200)
    }).pipe(Effect.scoped)
  )
})
