import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OperatorEvents } from "../../src/account/OperatorEvents.ts"
import { OperatorKeys } from "../../src/account/OperatorKeys.ts"
import { OperatorSessions } from "../../src/account/OperatorSessions.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { layer as database } from "../support/Database.ts"

const rooms = Layer.mergeAll(OperatorKeys.layer, OperatorSessions.layer).pipe(
  Layer.provideMerge(OperatorEvents.layer),
  Layer.provideMerge(database)
)

const origin = { browser: "Firefox on Linux", address: "192.0.2.1" }

describe("OperatorSessions", () => {
  it.effect("records the begin and the end of a session in the audit log, and stores no token", () =>
    Effect.gen(function* () {
      const [keys, sessions] = [yield* OperatorKeys, yield* OperatorSessions]
      const [events, sql] = [yield* OperatorEvents, yield* SqlClient.SqlClient]
      const { id: keyId } = yield* keys.create({ name: "support", expiresAt: null })
      const requestId = newRequestId()
      const begun = (yield* sessions.begin({ keyId, requestId, origin }))!
      assert.deepInclude(yield* sessions.find(begun.token), { id: begun.id, key_id: keyId, key_name: "support" })
      const rows = yield* sql<{ text: string }>`SELECT to_jsonb(s)::text AS text FROM operator_session s`
      assert.notInclude(JSON.stringify(rows), begun.token)
      yield* sessions.end(begun, requestId)
      assert.isUndefined(yield* sessions.find(begun.token))
      const { 0: out, 1: into } = yield* events.list({ after: null, limit: 2 })
      assert.deepInclude(into, { type: "operator.signed_in", actor_id: keyId, request_id: requestId })
      assert.deepStrictEqual(into?.changes, { key_name: "support", ...origin })
      assert.deepInclude(out, { type: "operator.signed_out", resource_id: begun.id })
    }).pipe(Effect.provide(rooms))
  )

  it.effect("ends a session with its key, after an hour without use, and after twelve hours in any case", () =>
    Effect.gen(function* () {
      const [keys, sessions, sql] = [yield* OperatorKeys, yield* OperatorSessions, yield* SqlClient.SqlClient]
      const begin = (keyId: string) => sessions.begin({ keyId, requestId: newRequestId(), origin })
      const { id: keyId } = yield* keys.create({ name: "a", expiresAt: null })
      const aged = (seen: string, created: string) =>
        Effect.gen(function* () {
          const { id, token } = (yield* begin(keyId))!
          yield* sql`UPDATE operator_session SET seen_at = now() - ${seen}::interval, created_at = now() - ${created}::interval
            WHERE id = ${id}`
          return yield* sessions.find(token)
        })
      assert.isDefined(yield* aged("59 minutes", "11 hours 59 minutes"))
      assert.isUndefined(yield* aged("61 minutes", "2 hours"))
      assert.isUndefined(yield* aged("1 minute", "12 hours 1 minute"))
      const soon = new Date(Date.now() + 60_000)
      const short = yield* keys.create({ name: "b", expiresAt: soon })
      const bounded = (yield* begin(short.id))!
      assert.strictEqual(bounded.ends_at.getTime(), soon.getTime())
      const kept = (yield* begin(keyId))!
      yield* keys.revoke(short.id)
      assert.isUndefined(yield* sessions.find(bounded.token))
      assert.isUndefined(yield* begin(short.id))
      assert.isUndefined(yield* sessions.find("nothing"))
      assert.strictEqual(yield* sessions.dropEnded, 3)
      assert.isDefined(yield* sessions.find(kept.token))
    }).pipe(Effect.provide(rooms))
  )

  it.effect("records the last use at most once a minute", () =>
    Effect.gen(function* () {
      const [keys, sessions, sql] = [yield* OperatorKeys, yield* OperatorSessions, yield* SqlClient.SqlClient]
      const { id: keyId } = yield* keys.create({ name: "a", expiresAt: null })
      const { id, token } = (yield* sessions.begin({ keyId, requestId: newRequestId(), origin }))!
      const seenAfter = (ago: string) =>
        Effect.gen(function* () {
          yield* sql`UPDATE operator_session SET seen_at = now() - ${ago}::interval WHERE id = ${id}`
          yield* sessions.find(token)
          const [row] = yield* sql<{ recent: boolean }>`SELECT seen_at > now() - interval '5 seconds' AS recent
            FROM operator_session WHERE id = ${id}`
          return row!.recent
        })
      assert.deepStrictEqual([yield* seenAfter("30 seconds"), yield* seenAfter("2 minutes")], [false, true])
    }).pipe(Effect.provide(rooms))
  )
})
