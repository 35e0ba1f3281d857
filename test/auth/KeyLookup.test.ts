/** The duration of a lookup reveals nothing about a key: it is one query for the digest, whatever the key is. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Budgets } from "../../src/account/Budgets.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Projects } from "../../src/account/Projects.ts"
import { Auth } from "../../src/auth/Auth.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { get, startService } from "../support/Service.ts"

const actor = { type: "operator", id: "test" } as const

/** Returns another key of the same length that begins with `length` characters of this one. */
const likeUpTo = (key: string, length: number): string => {
  const other = `${key.slice(0, 7)}${randomBytes(32).toString("base64url")}`
  const next = key[length] === other[length] ? (other[length] === "A" ? "B" : "A") : other[length]!
  return `${key.slice(0, length)}${next}${other.slice(length + 1)}`.slice(0, key.length)
}

describe("the lookup of a key", () => {
  it.live("queries once for the digest of the whole key, for a valid, an unknown and a revoked one", () =>
    Effect.gen(function* () {
      const asked: Array<Uint8Array> = []
      const noting = Layer.effect(
        Keys,
        Effect.map(Keys, (keys) =>
          Keys.of({
            ...keys,
            findByHash: (hash) => {
              asked.push(hash)
              return keys.findByHash(hash)
            },
            findById: () => assert.fail("a second query")
          })
        )
      )
      const rooms = Auth.layer.pipe(
        Layer.provideMerge(noting),
        Layer.provideMerge(Layer.mergeAll(Accounts.layer, Keys.layer, Projects.layer)),
        Layer.provideMerge(Layer.mergeAll(Audit.layer, Budgets.layer))
      )
      const context = yield* Layer.build(rooms.pipe(Layer.provide(layerUrl(yield* freshDatabase("lookup")))))
      yield* Effect.gen(function* () {
        const [auth, keys] = [yield* Auth, yield* Keys]
        const account = yield* (yield* Accounts).create("lookup@example.com", actor)
        const make = keys.create({ accountId: account.id, kind: "inference", name: "key", scopes: [], actor })
        const [{ key }, revoked] = [yield* make, yield* make]
        yield* keys.revoke(revoked.id, actor)
        const guesses = [8, 20, 30, key.length - 1].map((length) => likeUpTo(key, length))
        const digests: Array<string> = []
        for (const one of [key, revoked.key, ...guesses]) {
          asked.length = 0
          yield* Effect.ignore(auth.authenticate(`Bearer ${one}`, "inference"))
          assert.deepStrictEqual(
            asked.map(({ length }) => length),
            [32],
            one
          )
          digests.push(Buffer.from(asked[0]!).toString("hex"))
        }
        // However much of a guess is right, its digest resembles the key's digest only by chance.
        const [good = "", ...others] = digests
        for (const other of others) {
          const alike = [...other].filter((digit, at) => digit === good[at]).length
          assert.isBelow(alike, 24, `${other} is like ${good}`)
        }
      }).pipe(Effect.provide(context))
    }).pipe(Effect.scoped)
  )

  it.live("answers an unknown and a revoked key identically", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account()
      const spare = yield* service.keys.create({
        accountId: account.id,
        kind: "inference",
        name: "x",
        scopes: [],
        actor
      })
      yield* service.keys.revoke(spare.id, actor)
      const answers: Array<unknown> = []
      for (const key of [spare.key, likeUpTo(inferenceKey, 8), likeUpTo(inferenceKey, inferenceKey.length - 1)]) {
        const answer = yield* get(`${service.api}/key`, key)
        const headers = [...answer.headers].filter(
          ([name]) => !/^(x-request-id|x-ratelimit-|ratelimit|date)/.test(name)
        )
        answers.push([answer.status, headers, yield* Effect.promise(() => answer.json())])
      }
      assert.strictEqual((answers[0] as ReadonlyArray<unknown>)[0], 401)
      for (const answer of answers) assert.deepStrictEqual(answer, answers[0])
    }).pipe(Effect.scoped)
  )
})
