/** Conversations of the legacy chat that the gateway records in a session. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { MAX_MESSAGES_PER_SESSION } from "../../src/sessions/Sessions.ts"
import { layerUrl } from "../support/Database.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

interface Said {
  readonly role: string
  readonly content: string
}

const user = (content: string): Said => ({ role: "user", content })

/** Starts a gateway and creates an account with a session named `talk`. */
const talking = Effect.gen(function* () {
  const service = yield* startService()
  const { account, inferenceKey: key } = yield* service.account(10)
  const session = yield* Effect.flatMap(post(`${service.api}/sessions`, key, { session_id: "talk" }), json)
  const chat = (messages: ReadonlyArray<Said>, more: object = {}, headers: Record<string, string> = {}) =>
    post(`${service.api}/chat`, key, { model: "gpt-4o-mini", messages, session_id: "talk", ...more }, headers)
  const said = Effect.flatMap(get(`${service.api}/sessions/${session.id}/export`, key), json)
  return {
    service,
    account,
    key,
    chat,
    session,
    /** Sends a chat request that must succeed, and returns its answer. */
    asked: (messages: ReadonlyArray<Said>, more?: object, headers?: Record<string, string>) =>
      Effect.gen(function* () {
        const response = yield* chat(messages, more, headers)
        const answer = yield* json(response)
        assert.strictEqual(response.status, 200, JSON.stringify(answer))
        return { answer, text: answer.choices[0].message.content as string, headers: response.headers }
      }),
    exported: said,
    /** Reads the role and the content of each recorded message, in order. */
    recorded: Effect.map(said, ({ messages }) =>
      (messages as ReadonlyArray<Said>).map(({ content, role }) => [role, content])
    )
  }
})

const fill = (service: Service, messages: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE session SET messages = ${messages}::int`).pipe(
    Effect.provide(layerUrl(service.databaseUrl, 1)),
    Effect.scoped
  )

describe("a session of the legacy chat", () => {
  it.live("records each message once, with model, usage and cost of the answers", () =>
    Effect.gen(function* () {
      const { asked, exported, recorded, session } = yield* talking
      const first = yield* asked([{ role: "system", content: "Be brief" }, user("Hello")])
      const conversation = [
        { role: "system", content: "Be brief" },
        user("Hello"),
        { role: "assistant", content: first.text },
        user("And now?")
      ]
      const second = yield* asked(conversation)
      // The session's id works like its name, and the last message alone like the whole conversation.
      const third = yield* asked([user("Bye")], { session_id: session.id })
      assert.isNull(third.headers.get("x-svc-ignored-parameters"))
      assert.deepStrictEqual(yield* recorded, [
        ["system", "Be brief"],
        ["user", "Hello"],
        ["assistant", first.text],
        ["user", "And now?"],
        ["assistant", second.text],
        ["user", "Bye"],
        ["assistant", third.text]
      ])
      const { messages, session: now } = yield* exported
      const { answer } = first
      const { cost, ...usage } = answer.usage
      assert.strictEqual(cost, answer.cost_usd)
      assert.deepInclude(messages[2], { model: answer.resolved_model, usage, cost_usd: answer.cost_usd })
      assert.notProperty(messages[1], "model")
      assert.deepStrictEqual([now.message_count, now.session_id], [7, "talk"])
    }).pipe(Effect.scoped)
  )

  it.live("is found by a name of up to 256 characters, and a longer name gets 400 without a charge", () =>
    Effect.gen(function* () {
      const { account, chat, key, service } = yield* talking
      const session_id = "\u{1f375}".repeat(256)
      const opened = yield* Effect.flatMap(post(`${service.api}/sessions`, key, { session_id }), json)
      assert.strictEqual((yield* chat([user("Hello")], { session_id })).status, 200)
      const said = yield* Effect.flatMap(get(`${service.api}/sessions/${opened.id}/export`, key), json)
      assert.lengthOf(said.messages, 2)
      const before = yield* service.balance(account.id)
      const longer = yield* chat([user("Hello")], { session_id: `${session_id}s` })
      const { code, error } = yield* json(longer)
      assert.deepStrictEqual([longer.status, code, error.param], [400, "validation_error", "session_id"])
      assert.deepStrictEqual(yield* service.balance(account.id), before)
    }).pipe(Effect.scoped)
  )

  it.live("changes neither the prompt nor the cache key", () =>
    Effect.gen(function* () {
      const { asked, exported, recorded } = yield* talking
      const first = yield* asked([user("Hello")])
      const again = yield* asked([user("Hello")])
      assert.deepStrictEqual([again.headers.get("x-svc-cache-status"), again.answer.cached], ["HIT", true])
      // The hit repeats the session's last turn, so it is not recorded again.
      assert.lengthOf(yield* recorded, 2)
      const between = yield* asked([user("And now?")])
      yield* asked([user("Hello")])
      assert.deepStrictEqual(yield* recorded, [
        ["user", "Hello"],
        ["assistant", first.text],
        ["user", "And now?"],
        ["assistant", between.text],
        ["user", "Hello"],
        ["assistant", first.text]
      ])
      assert.strictEqual((yield* exported).messages[5].cost_usd, 0)
      const other = yield* asked([user("Hello")], {}, { "x-svc-cache": "false" })
      assert.strictEqual(other.answer.usage.prompt_tokens, first.answer.usage.prompt_tokens)
    }).pipe(Effect.scoped)
  )

  it.live("records a replayed request once, whether it was charged or a cache hit", () =>
    Effect.gen(function* () {
      const { asked, recorded } = yield* talking
      const fresh = { "idempotency-key": "fresh" }
      const first = yield* asked([user("Hello")], {}, fresh)
      assert.strictEqual((yield* asked([user("Hello")], {}, fresh)).headers.get("idempotency-replayed"), "true")
      assert.lengthOf(yield* recorded, 2)
      const between = yield* asked([user("And now?")])
      const hit = { "idempotency-key": "hit" }
      for (let time = 0; time < 2; time++) assert.isTrue((yield* asked([user("Hello")], {}, hit)).answer.cached)
      yield* asked([user("And now?")])
      assert.isTrue((yield* asked([user("Hello")], {}, hit)).answer.cached)
      const once = [
        ["user", "Hello"],
        ["assistant", first.text]
      ]
      const other = [
        ["user", "And now?"],
        ["assistant", between.text]
      ]
      assert.deepStrictEqual(yield* recorded, [...once, ...other, ...once, ...other])
    }).pipe(Effect.scoped)
  )

  it.live("records no failed request and no request under zero_retention", () =>
    Effect.gen(function* () {
      const { account, asked, chat, recorded, service } = yield* talking
      yield* service.preset(account.id, "secret", {
        model: "claude-sonnet-4-5",
        routing: { data_policy: "zero_retention" }
      })
      const failed = yield* chat(
        [user("Hello")],
        { routing: { allow_fallbacks: false } },
        { "x-svc-sandbox": "fault=error" }
      )
      assert.isAtLeast(failed.status, 500)
      yield* asked([user("Hello")], { model: "claude-sonnet-4-5", routing: { data_policy: "zero_retention" } })
      yield* asked([user("Hello")], { model: "@secret" })
      assert.deepStrictEqual(yield* recorded, [])
    }).pipe(Effect.scoped)
  )

  it.live("must exist in the request's account, or the request gets 404 without a charge", () =>
    Effect.gen(function* () {
      const { account, chat, service, session } = yield* talking
      const other = yield* service.account(1)
      yield* post(`${service.api}/sessions`, other.inferenceKey, { session_id: "theirs" })
      const before = yield* service.balance(account.id)
      for (const session_id of ["absent", "theirs", "\0"]) {
        const response = yield* chat([user("Hello")], { session_id })
        assert.deepStrictEqual([response.status, (yield* json(response)).code], [404, "not_found"], session_id)
      }
      const body = { model: "gpt-4o-mini", messages: [user("Hello")], session_id: session.id }
      assert.strictEqual((yield* post(`${service.api}/chat`, other.inferenceKey, body)).status, 404)
      assert.deepStrictEqual(yield* service.balance(account.id), before)
    }).pipe(Effect.scoped)
  )

  it.live("that is full answers 400 without a charge, and still serves replays", () =>
    Effect.gen(function* () {
      const { account, asked, chat, service } = yield* talking
      const key = { "idempotency-key": "k" }
      const first = yield* asked([user("Hello")], {}, key)
      yield* fill(service, MAX_MESSAGES_PER_SESSION)
      const before = yield* service.balance(account.id)
      const response = yield* chat([user("More")])
      const { code, error } = yield* json(response)
      assert.deepStrictEqual([response.status, code, error.param], [400, "validation_error", "session_id"])
      assert.deepStrictEqual(yield* service.balance(account.id), before)
      assert.deepStrictEqual((yield* asked([user("Hello")], {}, key)).answer, first.answer)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})
