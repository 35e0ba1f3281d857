import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { Principal } from "../../schemas/Access.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Auth } from "../../src/auth/Auth.ts"
import { failure } from "../../src/domain/Failure.ts"
import type { Nano } from "../../src/domain/Money.ts"
import { keepAnswer } from "../../src/inference/Answer.ts"
import { Batch, type BatchItem, type BatchRequest } from "../../src/batches/Batch.ts"
import type { Share } from "../../src/inference/BatchOperation.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import type { Claim, HoldOperation } from "../../src/ledger/Operation.ts"
import { verify } from "../../src/ledger/Verify.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { Requests } from "../../src/usage/Requests.ts"
import { until } from "../support/Until.ts"
import { customer } from "../ledger/Fixture.ts"
import { type StoredReason, restoreReason } from "../../src/inference/Receipt.ts"
import { layer as database } from "../support/Database.ts"

const BALANCE = 1_000n

const claimOf = (claim: string): Claim => ({ idempotencyKey: claim, claim, fingerprint: claim })

const scene = (holdTtl: Duration.Input = "1 minute") =>
  Effect.gen(function* () {
    const rooms = Batch.layerFrom({ holdTtl: Duration.fromInputUnsafe(holdTtl) }).pipe(
      Layer.provideMerge(Layer.mergeAll(Auth.layer, Requests.layer, Ledger.layer)),
      Layer.provideMerge(Keys.layer),
      Layer.provideMerge(Audit.layer),
      Layer.provideMerge(database)
    )
    const context = yield* Layer.build(rooms)
    return yield* Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* Ledger
      const batch = yield* Batch
      const { accountId, keyId } = yield* customer(sql, BALANCE)
      const principal: Principal = {
        keyId,
        accountId,
        projectId: null,
        kind: "inference",
        scopes: [],
        limitScale: 1,
        budgets: [],
        budgetsEpoch: 0
      }
      const hold = (claim: Claim | undefined, ttlMs: number, amount: Nano, upTo = amount): HoldOperation => ({
        _tag: "Hold",
        requestId: newRequestId(),
        accountId,
        keyId,
        projectId: null,
        operation: "test",
        model: "test",
        atLeast: amount,
        upTo,
        ttlMs,
        budgets: [],
        budgetsEpoch: 0,
        opened: { prices: [] },
        claim,
        charge: false
      })
      const shares: Array<Share> = []
      let running = 0
      let most = 0
      /** A request that costs this much, and ends after `first`. */
      const item = (
        name: string,
        cost: Nano,
        more: { first?: Effect.Effect<void>; claimed?: boolean } = {}
      ): BatchItem => {
        const claim = more.claimed === true ? claimOf(name) : undefined
        return {
          claim,
          bounds: () => Result.succeed({ atLeast: cost, upTo: 2n * cost }),
          serve: (share) =>
            Effect.gen(function* () {
              shares.push(share!)
              most = Math.max(most, ++running)
              const operation = hold(claim, 60_000, cost, share!.holdAtMost)
              const held = yield* Effect.orDie(ledger.carve(share!.carvedFrom, operation))
              assert.strictEqual(held._tag, "Granted")
              yield* more.first ?? Effect.yieldNow
              running--
              yield* Effect.orDie(
                ledger.commit({
                  _tag: "Close",
                  requestId: operation.requestId,
                  accountId,
                  settle: { cost },
                  onlyIfExpired: false,
                  status: "succeeded",
                  keepClaim: claim !== undefined,
                  resolvedModel: null,
                  provider: null,
                  closed: {},
                  answer: claim === undefined ? null : keepAnswer({ name })
                })
              )
              return { requestId: operation.requestId, cost, body: `"${name}"` }
            }),
          again: () => `"${name} again"`
        }
      }
      const failing = (name: string): BatchItem => ({
        ...item(name, 10n),
        serve: () => Effect.fail(failure({ _tag: "UpstreamError", detail: name }))
      })
      const request = (items: ReadonlyArray<BatchItem>, key?: string): BatchRequest => ({
        requestId: newRequestId(),
        principal,
        trace: undefined,
        arrivedAt: performance.now(),
        items,
        itemsFor: () => Effect.succeed(items),
        claim: key === undefined ? undefined : claimOf(key)
      })
      const money = Effect.map(Effect.orDie(ledger.balance(accountId)), (balance) => balance!)
      return {
        ledger,
        hold,
        item,
        failing,
        shares,
        money,
        /** The row of the oldest batch. */
        rowOf: Effect.map(
          sql<{
            readonly state: string
            readonly status: string
            readonly claim: string | null
            readonly expires_at: Date
            readonly closed: { readonly error: StoredReason }
          }>`
            SELECT state, status, claim, expires_at, closed FROM request WHERE operation = 'batch' ORDER BY id LIMIT 1`,
          ([row]) => row!
        ),
        /** Moves the end of the request under a claim a day and a minute back. */
        age: (claim: string) =>
          sql`UPDATE request SET closed_at = closed_at - interval '1 day 1 minute' WHERE claim = ${claim}`,
        run: (items: ReadonlyArray<BatchItem>, key?: string) => batch.run(request(items, key)),
        most: () => most,
        faults: Effect.map(verify(sql), ({ checks }) => checks.filter(({ ok }) => !ok))
      }
    }).pipe(Effect.provide(context))
  })

describe("a batch", () => {
  it.live("runs eight requests at a time, and divides one hold among them", () =>
    Effect.gen(function* () {
      const { faults, item, money, most, run, shares } = yield* scene()
      const outcome = yield* run(Array.from({ length: 30 }, (_, at) => item(`${at}`, 20n)))
      assert.isUndefined(outcome.failed)
      assert.lengthOf(outcome.served, 30)
      assert.strictEqual(most(), 8)
      const divided = shares.reduce((all, { holdAtMost }) => all + holdAtMost, 0n)
      assert.isAtMost(Number(divided), Number(BALANCE))
      assert.isTrue(shares.every(({ holdAtMost }) => holdAtMost >= 20n))
      assert.deepStrictEqual(yield* money, { posted: 400n, held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is rejected as a whole when the sum exceeds the balance", () =>
    Effect.gen(function* () {
      const { item, money, run, shares } = yield* scene()
      const { reason } = yield* Effect.flip(run([item("a", 600n), item("b", 600n)]))
      assert.deepInclude(reason, { _tag: "InsufficientCredits", limitSource: "balance", needed: 1_200n })
      assert.isEmpty(shares)
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("starts no more requests after a failure, lets running ones end, and reports the first failure", () =>
    Effect.gen(function* () {
      const { failing, faults, item, money, run, shares } = yield* scene()
      const items = [
        item("a", 10n),
        failing("b"),
        failing("c"),
        ...Array.from({ length: 40 }, (_, at) => item(`${at}`, 10n))
      ]
      const { failed, served } = yield* run(items)
      assert.deepInclude(failed?.failure.reason, { detail: "b" })
      assert.strictEqual(failed?.index, 1)
      const done = served.filter((one) => one !== undefined)
      assert.lengthOf(done, shares.length)
      assert.isBelow(done.length, 9)
      assert.deepStrictEqual(yield* money, { posted: BALANCE - 10n * BigInt(done.length), held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("stores the reason and ends when one of its requests is rejected for lack of money", () =>
    Effect.gen(function* () {
      const { faults, item, money, rowOf, run } = yield* scene()
      const amounts = { needed: 30n, available: 20n, posted: 2n ** 60n }
      const reason = { _tag: "InsufficientCredits", limitSource: "key_budget", ...amounts } as const
      const refused: BatchItem = { ...item("b", 10n), serve: () => Effect.fail(failure(reason)) }
      const { failed, served } = yield* run([item("a", 10n), refused])
      assert.deepInclude(failed, { index: 1 })
      assert.deepStrictEqual(failed?.failure.reason, reason)
      assert.strictEqual(served[0]?.cost, 10n)
      const { closed, state } = yield* rowOf
      assert.strictEqual(state, "released")
      assert.deepStrictEqual(restoreReason(closed.error), reason)
      assert.deepStrictEqual(yield* money, { posted: BALANCE - 10n, held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("resumes under its idempotency key, and holds only for the remaining requests", () =>
    Effect.gen(function* () {
      const { failing, faults, item, money, run, shares } = yield* scene()
      const first = item("a", 700n, { claimed: true })
      const failed = yield* run([first, failing("b")], "key")
      assert.strictEqual(failed.failed?.index, 1)
      const again = yield* run([first, item("b", 100n, { claimed: true })], "key")
      assert.deepStrictEqual(
        again.served.map((one) => one?.body),
        ['"a again"', '"b"']
      )
      assert.isFalse(again.replayed)
      const replayed = yield* run([first, item("b", 100n, { claimed: true })], "key")
      assert.deepStrictEqual(
        [replayed.replayed, replayed.requestId, ...replayed.served.map((one) => one?.body)],
        [true, again.requestId, '"a again"', '"b again"']
      )
      assert.lengthOf(shares, 2)
      const other = { ...item("b", 100n, { claimed: true }), claim: { ...claimOf("b"), fingerprint: "other" } }
      const { reason } = yield* Effect.flip(run([first, other], "key"))
      assert.strictEqual(reason._tag, "IdempotencyKeyReused")
      assert.deepStrictEqual(yield* money, { posted: 200n, held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is not answered in part when the answers of some requests have expired", () =>
    Effect.gen(function* () {
      const { age, faults, item, ledger, money, run } = yield* scene()
      const items = [item("a", 10n, { claimed: true }), item("b", 10n, { claimed: true })]
      const { requestId } = yield* run(items, "key")
      // The first request of a long batch may have ended a day and a minute ago, but not the batch itself.
      yield* age("a")
      yield* Effect.orDie(ledger.dropClaims(24 * 3_600_000))
      const { reason } = yield* Effect.flip(run(items, "key"))
      assert.deepStrictEqual(reason, { _tag: "IdempotencyResultUnavailable", requestId })
      assert.deepStrictEqual(yield* money, { posted: BALANCE - 20n, held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("resumes with a request of unknown outcome once its hold has expired", () =>
    Effect.gen(function* () {
      const { faults, hold, item, ledger, money, run } = yield* scene()
      const items = [item("a", 10n, { claimed: true }), item("b", 10n, { claimed: true })]
      yield* Effect.orDie(ledger.commit(hold(claimOf("key"), 1_000, 50n)))
      yield* Effect.orDie(ledger.commit(hold(claimOf("b"), 1_000, 10n)))
      const { reason } = yield* Effect.flip(run(items, "key"))
      assert.strictEqual(reason._tag, "IdempotencyInProgress")
      yield* until(
        "the batch resumes",
        Effect.map(Effect.result(run(items, "key")), (result) => Result.isSuccess(result))
      )
      assert.deepStrictEqual(yield* money, { posted: BALANCE - 20n, held: 0n })
      assert.deepStrictEqual(yield* faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("renews its hold while it runs, and releases it when the client disconnects", () =>
    Effect.gen(function* () {
      const { item, money, rowOf, run } = yield* scene("600 millis")
      const begun = yield* Deferred.make<void>()
      const first = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      const caller = yield* Effect.forkChild(run([item("a", 10n, { first })], "key"))
      yield* Deferred.await(begun)
      const { expires_at } = yield* rowOf
      yield* until(
        "the hold is renewed",
        Effect.map(rowOf, (row) => row.expires_at > expires_at && row.state === "open")
      )
      yield* Fiber.interrupt(caller)
      assert.deepInclude(yield* rowOf, { state: "released", status: "cancelled", claim: null })
      assert.isUndefined((yield* run([item("b", 10n)], "key")).failed)
      assert.strictEqual((yield* money).posted, BALANCE - 10n)
    }).pipe(Effect.scoped)
  )
})
