import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { hashKey, hashTextOf, isWellFormedKey, Keys, MAX_ACTIVE_INFERENCE_KEYS } from "../../src/account/Keys.ts"
import { layer as database } from "../support/Database.ts"

const actor = { type: "operator", id: "test" } as const
const rooms = Layer.mergeAll(Accounts.layer, Keys.layer).pipe(
  Layer.provideMerge(Audit.layer),
  Layer.provideMerge(database)
)

let count = 0
const newAccount = Effect.flatMap(Accounts, (accounts) => accounts.create(`keys-${count++}@example.com`, actor))
const inference = (accountId: string) => ({ accountId, kind: "inference", name: "k", scopes: [], actor }) as const

describe("Keys", () => {
  layer(rooms, { excludeTestServices: true })((it) => {
    it.effect("creates keys of 256 random bits in the documented forms", () =>
      Effect.gen(function* () {
        const keys = yield* Keys
        const { id: accountId } = yield* newAccount
        const sk = yield* keys.create(inference(accountId))
        const mk = yield* keys.create({ ...inference(accountId), kind: "management", scopes: ["usage:read"] })
        assert.match(sk.key, /^svc_sk_[A-Za-z0-9_-]{43}$/)
        assert.match(mk.key, /^svc_mk_[A-Za-z0-9_-]{43}$/)
        assert.strictEqual(Buffer.from(sk.key.slice(7), "base64url").length, 32)
        assert.isTrue(isWellFormedKey(sk.key))
        const found = yield* keys.findByHash(hashKey(mk.key))
        assert.deepStrictEqual(
          [found?.id, found?.kind, found?.scopes, found?.active],
          [mk.id, "management", ["usage:read"], true]
        )
      })
    )

    it("hashes a key to the same digest as bytes and as text", () => {
      assert.deepStrictEqual(Buffer.from(hashTextOf("svc_sk_é"), "base64"), hashKey("svc_sk_é"))
    })

    it.effect("stores a hash and nothing that reveals the key", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const keys = yield* Keys
        const { key } = yield* keys.create(inference((yield* newAccount).id))
        const rows = yield* sql<{ text: string }>`SELECT api_key::text AS text FROM api_key
          UNION ALL SELECT audit_event::text FROM audit_event`
        const secret = key.slice(11, -4)
        assert.isAbove(rows.length, 1)
        assert.isFalse(rows.some(({ text }) => text.includes(secret)))
      })
    )

    it.effect("allows five active inference keys, however many requests run at once", () =>
      Effect.gen(function* () {
        const keys = yield* Keys
        const { id: accountId } = yield* newAccount
        const made = yield* Effect.forEach(
          Array.from({ length: 12 }),
          () => Effect.result(keys.create(inference(accountId))),
          { concurrency: "unbounded" }
        )
        const good = made.filter((result) => result._tag === "Success")
        assert.strictEqual(good.length, MAX_ACTIVE_INFERENCE_KEYS)
        for (const result of made) {
          if (result._tag === "Failure") assert.deepInclude(result.failure, { _tag: "Failure" })
        }
        yield* keys.create({ ...inference(accountId), kind: "management" })
        const [first] = good
        assert.isTrue(yield* keys.revoke(first!.success.id, actor))
        assert.strictEqual((yield* Effect.result(keys.create(inference(accountId))))._tag, "Success")
      })
    )

    it.effect("revokes once, and records the actor", () =>
      Effect.gen(function* () {
        const keys = yield* Keys
        const audit = yield* Audit
        const { id: accountId } = yield* newAccount
        const { id, key } = yield* keys.create(inference(accountId))
        assert.isTrue(yield* keys.revoke(id, actor))
        assert.isFalse(yield* keys.revoke(id, actor))
        assert.isFalse(yield* keys.revoke("0".repeat(24), actor))
        assert.strictEqual((yield* keys.findByHash(hashKey(key)))?.active, false)
        const events = yield* audit.list(accountId, 10)
        assert.deepStrictEqual(
          events.map((event) => [event.type, event.actor_type, event.resource_id === id]),
          [
            ["key.revoked", "operator", true],
            ["key.created", "operator", true],
            ["account.created", "operator", false]
          ]
        )
      })
    )
  })
})
