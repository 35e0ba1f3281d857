import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { Customers, OPERATOR } from "../../src/billing/Customers.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { Requests } from "../../src/usage/Requests.ts"
import { makeOverdue, newClient, wrongs } from "../ledger/Fixture.ts"
import { runScript } from "../platform/database/Child.ts"
import { freshDatabase } from "../support/Database.ts"
import { asked, BALANCE, found, PRICE, rooms } from "./ChargedScene.ts"

const script = fileURLToPath(new URL("chargedProcess.ts", import.meta.url))

describe("a process killed between the charge and the end of a request", () => {
  it.live("leaves a charge that another process refunds once, after its lifetime", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase()
      const sql = yield* newClient(url)
      yield* Effect.gen(function* () {
        const ledger = yield* Ledger
        const requests = yield* Requests
        const { account, inferenceKey } = yield* (yield* Customers).open("killed@example.com", BALANCE, OPERATOR)
        const money = Effect.map(ledger.balance(account.id), (one) => one?.posted)
        const requestId = newRequestId()
        const child = yield* runScript(script, [url, inferenceKey, requestId])
        assert.strictEqual(yield* child.line, "asked")
        child.process.kill("SIGKILL")
        assert.strictEqual((yield* child.exit).signal, "SIGKILL")

        assert.strictEqual(yield* money, BALANCE - 2n * PRICE)
        assert.strictEqual((yield* requests.find(account.id, requestId))?.status, "open")
        const early = yield* Effect.flip(asked(inferenceKey))
        assert.strictEqual(early.reason._tag, "IdempotencyInProgress")
        assert.strictEqual(yield* ledger.refundOverdue, 0)

        yield* makeOverdue(sql, requestId)
        const swept = yield* Effect.all([ledger.refundOverdue, ledger.refundOverdue], { concurrency: 2 })
        assert.strictEqual(swept[0] + swept[1], 1)
        assert.strictEqual(yield* money, BALANCE)
        assert.deepInclude(yield* requests.find(account.id, requestId), {
          status: "failed",
          settled: 2n * PRICE,
          refunded: 2n * PRICE,
          closed: { error: { _tag: "HoldExpired" } }
        })
        // The outcome at the provider is unknown, so the idempotency key stays taken.
        const late = yield* Effect.flip(asked(inferenceKey))
        assert.deepStrictEqual(late.reason, { _tag: "IdempotencyResultUnavailable", requestId })
        assert.strictEqual(yield* money, BALANCE)
        assert.deepStrictEqual(yield* wrongs(sql), [])
      }).pipe(Effect.provide(rooms(sql, Effect.succeed(found))))
    }).pipe(Effect.scoped)
  )
})
