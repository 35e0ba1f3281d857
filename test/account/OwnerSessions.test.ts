import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { csrfTokenOf, isCsrfTokenOf, OwnerSessions } from "../../src/account/OwnerSessions.ts"
import { layer as database } from "../support/Database.ts"

const actor = { type: "operator", id: "test" } as const

const stage = Effect.gen(function* () {
  const context = yield* Layer.build(
    Layer.merge(OwnerSessions.layer, Accounts.layer).pipe(Layer.provide(Audit.layer), Layer.provideMerge(database))
  )
  const { create } = Context.get(context, Accounts)
  const [ann, bob] = [yield* create("ann@example.com", actor), yield* create("bob@example.com", actor)]
  return { ann, bob, sessions: Context.get(context, OwnerSessions), sql: Context.get(context, SqlClient.SqlClient) }
})

describe("OwnerSessions", () => {
  it.live("are found by their tokens, and stored as hashes only", () =>
    Effect.gen(function* () {
      const { ann, bob, sessions, sql } = yield* stage
      const [one, other] = [yield* sessions.begin(ann.id), yield* sessions.begin(bob.id)]
      assert.match(one.token, /^[A-Za-z0-9_-]{43}$/)
      const found = yield* sessions.find(one.token)
      assert.deepStrictEqual(
        [found?.id, found?.account_id, found?.email, found?.limit_scale],
        [one.id, ann.id, "ann@example.com", 1]
      )
      assert.strictEqual((yield* sessions.find(other.token))?.account_id, bob.id)
      for (const token of ["", "x", one.token.slice(1), `${one.token.slice(1)}_`]) {
        assert.isUndefined(yield* sessions.find(token), token)
      }
      const rows = yield* sql<{ text: string }>`SELECT s::text || encode(hash, 'base64') AS text FROM owner_session s`
      for (const { text } of rows) assert.notInclude(text, one.token)
    }).pipe(Effect.scoped)
  )

  it.live("end on request, for their own account only", () =>
    Effect.gen(function* () {
      const { ann, bob, sessions } = yield* stage
      const [one, two, other] = [
        yield* sessions.begin(ann.id),
        yield* sessions.begin(ann.id),
        yield* sessions.begin(bob.id)
      ]
      yield* sessions.end(bob.id, one.id)
      assert.isDefined(yield* sessions.find(one.token))
      yield* sessions.end(ann.id, one.id)
      assert.isUndefined(yield* sessions.find(one.token))
      assert.isDefined(yield* sessions.find(two.token))
      assert.strictEqual(yield* sessions.endAll(ann.id), 1)
      assert.isUndefined(yield* sessions.find(two.token))
      assert.isDefined(yield* sessions.find(other.token))
    }).pipe(Effect.scoped)
  )

  it.live("expire after thirty days, or after a day without use, and are then deleted", () =>
    Effect.gen(function* () {
      const { ann, sessions, sql } = yield* stage
      const made = [yield* sessions.begin(ann.id), yield* sessions.begin(ann.id), yield* sessions.begin(ann.id)]
      const [old, unused, used] = made
      yield* sql`UPDATE owner_session SET created_at = now() - interval '30 days 1 second' WHERE id = ${old!.id}`
      yield* sql`UPDATE owner_session SET seen_at = now() - interval '24 hours 1 second' WHERE id = ${unused!.id}`
      yield* sql`UPDATE owner_session SET seen_at = now() - interval '23 hours', created_at = now() - interval '29 days'
        WHERE id = ${used!.id}`
      assert.deepStrictEqual(
        yield* Effect.forEach(made, ({ token }) => Effect.map(sessions.find(token), (row) => row !== undefined)),
        [false, false, true]
      )
      const [seen] =
        yield* sql`SELECT 1 FROM owner_session WHERE id = ${used!.id} AND seen_at > now() - interval '1 minute'`
      assert.isDefined(seen, "its use was noted")
      assert.strictEqual(yield* sessions.dropEnded, 2)
      assert.strictEqual(yield* sessions.dropEnded, 0)
      assert.isDefined(yield* sessions.find(used!.token))
    }).pipe(Effect.scoped)
  )

  it("have CSRF tokens that are valid for one session only", () => {
    const token = csrfTokenOf("one")
    assert.isTrue(isCsrfTokenOf("one", token))
    for (const other of ["", token.slice(1), `${token} `, csrfTokenOf("two")])
      assert.isFalse(isCsrfTokenOf("one", other))
    assert.notInclude(token, "one")
  })
})
