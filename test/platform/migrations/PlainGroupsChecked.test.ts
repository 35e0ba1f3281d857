import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { commitGroup } from "../../../src/ledger/LedgerSql.ts"
import { balance, close, customer, hold, lockWaiters, request } from "../../ledger/Fixture.ts"
import * as Database from "../../support/Database.ts"

const ENDED = "state = 'released', status = 'failed', closed_at = now(), settled = 0, absorbed = 0"

layer(Database.layer, { excludeTestServices: true })("plain groups", (it) => {
  it.effect("pay for nothing when one of their requests has ended behind the back of its account's lock", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 1_000n)
      const [one, other] = [hold(owner, 100n), hold(owner, 10n)]
      yield* commitGroup(sql, [one, other])
      const session = yield* sql.reserve
      yield* session.executeRaw("BEGIN", [])
      yield* session.executeRaw(`UPDATE request SET ${ENDED} WHERE id = $1`, [other.requestId])
      const group = yield* Effect.forkScoped(Effect.flip(commitGroup(sql, [close(one, 100n), close(other, 10n)])), {
        startImmediately: true
      })
      yield* lockWaiters(sql, 1)
      yield* session.executeRaw("COMMIT", [])
      assert.include(String((yield* Fiber.join(group)).reason.cause), `request ${other.requestId} has changed`)
      assert.deepStrictEqual(yield* balance(sql, owner), { posted: 1_000n, held: 110n })
      assert.deepStrictEqual((yield* request(sql, one.requestId))?.state, "open")
      assert.deepStrictEqual((yield* request(sql, other.requestId))?.state, "released")
    }).pipe(Effect.scoped)
  )

  it.effect("end a request that has only been written elsewhere behind that lock, or pay for nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* customer(sql, 1_000n)
      const [held, other] = [hold(owner, 100n), hold(owner, 10n)]
      yield* commitGroup(sql, [held, other])
      const session = yield* sql.reserve
      yield* session.executeRaw("BEGIN", [])
      yield* session.executeRaw("UPDATE request SET progress = 1 WHERE id = $1", [held.requestId])
      const group = yield* Effect.forkScoped(Effect.exit(commitGroup(sql, [close(held, 100n), close(other, 10n)])), {
        startImmediately: true
      })
      yield* lockWaiters(sql, 1)
      yield* session.executeRaw("COMMIT", [])
      const paid = Exit.isSuccess(yield* Fiber.join(group))
      assert.deepStrictEqual(
        yield* balance(sql, owner),
        paid ? { posted: 890n, held: 0n } : { posted: 1_000n, held: 110n }
      )
      assert.deepStrictEqual((yield* request(sql, held.requestId))?.state, paid ? "settled" : "open")
    }).pipe(Effect.scoped)
  )
})
