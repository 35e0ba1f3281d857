import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { Nano } from "../../src/domain/Money.ts"
import { type EndingRequest, withoutResult } from "../../src/ledger/Ending.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import * as Database from "../support/Database.ts"
import { balance, conclusion, customer, hold, newClient, newLedger, request, twoNodes, wrongs } from "./Fixture.ts"
import { makeWire } from "./Wire.ts"

const impatient = Ledger.layerWithTimeouts({ holdMs: 1, closeMs: 200, statementMs: 10_000 })

/** A request with 60 of 100 held or charged, on a node that has lost its database. */
const scene = (charge: boolean) =>
  Effect.gen(function* () {
    const { nodes, sql, url } = yield* twoNodes
    const wire = yield* makeWire(url)
    const ledger = yield* newLedger(yield* newClient(wire.url), impatient)
    const owner = yield* customer(sql, 100n)
    const held = hold(owner, 60n, { charge })
    yield* ledger.commit(held)
    yield* wire.cut
    const { accountId, requestId } = held
    const asked: EndingRequest = { accountId, requestId, charged: charge ? 60n : undefined }
    /** The end that the database carries out, and that the node hears nothing of. */
    const settle = nodes[0].end(asked, 50n, conclusion(held, 0n))
    /** Waits until the account has this, and nothing is held. */
    const has = (posted: Nano) =>
      Effect.gen(function* () {
        const now = yield* balance(sql, owner)
        if (now.posted !== posted || now.held !== 0n) return yield* Effect.fail(now)
      }).pipe(Effect.retry(Schedule.spaced("20 millis")), Effect.timeout("20 seconds"))
    return { asked, has, ledger, settle, sql, wire }
  })

layer(Database.layer, { excludeTestServices: true })("a request whose answer cannot be returned", (it) => {
  for (const charge of [false, true]) {
    const paid = charge ? "charged" : "held"

    it.effect(`${paid}: gets back what its settle took, once, when the database is back`, () =>
      Effect.gen(function* () {
        const { asked, has, ledger, settle, sql, wire } = yield* scene(charge)
        yield* settle
        yield* has(50n)
        yield* ledger.giveBack(asked)
        yield* wire.mend
        yield* has(100n)
        yield* ledger.giveBack(asked)
        yield* ledger.end(asked, undefined, withoutResult("failed", null))
        yield* has(100n)
        const row = yield* request(sql, asked.requestId)
        assert.strictEqual(row?.refunded, row?.settled)
        assert.deepStrictEqual(yield* wrongs(sql), [])
      })
    )

    it.effect(`${paid}: costs nothing if it had not ended`, () =>
      Effect.gen(function* () {
        const { asked, has, ledger, settle, sql, wire } = yield* scene(charge)
        yield* ledger.giveBack(asked)
        yield* wire.mend
        yield* has(100n)
        const [row] = yield* sql<{ status: string }>`SELECT status FROM request WHERE id = ${asked.requestId}`
        assert.strictEqual(row?.status, "failed")
        // The lost end may still arrive.
        yield* settle
        yield* has(100n)
        assert.deepStrictEqual(yield* wrongs(sql), [])
      })
    )
  }
})
