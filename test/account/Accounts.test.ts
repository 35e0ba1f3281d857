import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { layer as database } from "../support/Database.ts"

const actor = { type: "operator", id: "test" } as const
const rooms = Accounts.layer.pipe(Layer.provideMerge(Audit.layer), Layer.provideMerge(database))

describe("Accounts", () => {
  layer(rooms, { excludeTestServices: true })((it) => {
    it.effect("finds an email address in any letter case, and refuses to register it twice", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        assert.isFalse(yield* accounts.exist)
        const made = yield* accounts.create("Ada@Example.com", actor)
        assert.isTrue(yield* accounts.exist)
        assert.match(made.id, /^[0-9a-f]{24}$/)
        assert.strictEqual((yield* accounts.findByEmail("ada@example.COM"))?.id, made.id)
        const twice = yield* Effect.flip(accounts.create("ADA@example.com", actor))
        assert.strictEqual(twice._tag, "EmailTaken")
        assert.isUndefined(yield* accounts.findByEmail("nobody@example.com"))
      })
    )

    it.effect("changes the scale of limits and records the old and the new value", () =>
      Effect.gen(function* () {
        const accounts = yield* Accounts
        const audit = yield* Audit
        const made = yield* accounts.create("scale@example.com", actor)
        yield* accounts.setLimitScale(made, 2.5, actor)
        assert.strictEqual((yield* accounts.findByEmail(made.email))?.limit_scale, 2.5)
        const [event] = yield* audit.list(made.id, 1)
        assert.deepStrictEqual(event?.changes, { limit_scale: { from: 1, to: 2.5 } })
      })
    )
  })
})
