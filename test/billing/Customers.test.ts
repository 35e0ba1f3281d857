import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Customers } from "../../src/billing/Customers.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { layer as database } from "../support/Database.ts"

const actor = { type: "operator", id: "test" } as const
const accounts = Layer.mergeAll(Accounts.layer, Keys.layer).pipe(Layer.provideMerge(Audit.layer))
const rooms = Customers.layer.pipe(
  Layer.provideMerge(Ledger.layer),
  Layer.provideMerge(accounts),
  Layer.provideMerge(database)
)

/** More than a balance can be: the database refuses it. */
const TOO_MUCH = 2n ** 63n

describe("Customers", () => {
  layer(rooms, { excludeTestServices: true })((it) => {
    it.effect("creates an account completely or not at all", () =>
      Effect.gen(function* () {
        const [customers, accounts] = [yield* Customers, yield* Accounts]
        const failed = yield* Effect.exit(customers.open("ann@example.com", TOO_MUCH, actor))
        assert.isTrue(Exit.isFailure(failed))
        assert.isFalse(yield* accounts.exist)
        const { account } = yield* customers.open("ann@example.com", 5n, actor)
        const taken = yield* Effect.flip(customers.open("ANN@example.com", 7n, actor))
        assert.strictEqual(taken._tag, "EmailTaken")
        assert.deepStrictEqual(yield* (yield* Ledger).balance(account.id), { posted: 5n, held: 0n })
      })
    )

    it.effect("tops up and writes the audit log, both or neither", () =>
      Effect.gen(function* () {
        const [customers, audit, ledger] = [yield* Customers, yield* Audit, yield* Ledger]
        const { account } = yield* customers.open("bob@example.com", 0n, actor)
        assert.strictEqual((yield* customers.topUp(account, 250_000_000n)).balance, 250_000_000n)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(customers.topUp(account, TOO_MUCH))))
        assert.deepStrictEqual(yield* ledger.balance(account.id), { posted: 250_000_000n, held: 0n })
        const events = (yield* audit.list(account.id, 10)).filter(({ type }) => type === "balance.topped_up")
        assert.deepStrictEqual(
          events.map(({ actor_type, changes }) => [actor_type, changes]),
          [["operator", { amount_usd: 0.25 }]]
        )
      })
    )

    it.effect("credits each of many simultaneous top-ups", () =>
      Effect.gen(function* () {
        const [customers, ledger] = [yield* Customers, yield* Ledger]
        const { account } = yield* customers.open("cid@example.com", 0n, actor)
        yield* Effect.forEach(Array.from({ length: 20 }), () => customers.topUp(account, 3n), { concurrency: 8 })
        assert.deepStrictEqual(yield* ledger.balance(account.id), { posted: 60n, held: 0n })
      })
    )
  })
})
