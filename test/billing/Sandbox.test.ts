import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Keys } from "../../src/account/Keys.ts"
import { verifyBooks } from "../../src/billing/Books.ts"
import { Customers, OPERATOR } from "../../src/billing/Customers.ts"
import { DEMO_EMAIL, hasTraces, Sandbox, tracesOf } from "../../src/billing/Sandbox.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { layer as database } from "../support/Database.ts"
import { close, hold } from "../ledger/Fixture.ts"

const accounts = Layer.mergeAll(Accounts.layer, Keys.layer).pipe(Layer.provideMerge(Audit.layer))
const rooms = Layer.mergeAll(Customers.layer, Sandbox.layer).pipe(
  Layer.provideMerge(Ledger.layer),
  Layer.provideMerge(accounts),
  Layer.provideMerge(database)
)

const simulated = { simulated: true } as const

describe("the end of a sandbox", () => {
  layer(rooms, { excludeTestServices: true })((it) => {
    it.effect(
      "cancels the requests that simulated money pays for, revokes the printed keys, and keeps everything else",
      () =>
        Effect.gen(function* () {
          const [customers, keys, ledger, sql] = [
            yield* Customers,
            yield* Keys,
            yield* Ledger,
            yield* SqlClient.SqlClient
          ]
          assert.isFalse(hasTraces(yield* tracesOf(sql)))
          const { account } = yield* customers.open(DEMO_EMAIL, 100n, OPERATOR, "play")
          const later = { accountId: account.id, kind: "inference", name: "own", scopes: [], actor: OPERATOR } as const
          const own = yield* keys.create(later)
          yield* customers.topUp(account, 50n)
          const owner = { accountId: account.id, keyId: own.id }
          const [held, sold, real] = [
            hold(owner, 10n, simulated),
            hold(owner, 20n, { charge: true, ...simulated }),
            hold(owner, 30n)
          ]
          for (const op of [held, sold, real]) assert.strictEqual((yield* ledger.commit(op))._tag, "Granted")
          assert.deepStrictEqual(yield* tracesOf(sql), { accounts: 1n, simulated: 80n, keys: 2n })

          const cleared = yield* (yield* Sandbox).clear(OPERATOR)
          assert.deepStrictEqual(cleared, {
            accounts: 1,
            simulated: 100n,
            requests: 2,
            keys: 2,
            left: { accounts: 0n, simulated: 0n, keys: 0n }
          })
          assert.deepStrictEqual(yield* ledger.balance(account.id), {
            posted: 50n,
            held: 30n,
            play: { posted: 0n, held: 0n }
          })
          // Whoever was at it hears that it has ended.
          assert.strictEqual((yield* ledger.commit(close(held, 5n)))._tag, "Gone")
          assert.strictEqual((yield* ledger.commit(close(real, 5n)))._tag, "Closed")
          const working = yield* sql<{ id: string }>`SELECT id FROM api_key WHERE revoked_at IS NULL`
          assert.deepStrictEqual(working, [{ id: own.id }])
          assert.isTrue((yield* verifyBooks(sql)).ok)
        })
    )
  })
})
