import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { failure, type Failure, type Reason } from "../../src/domain/Failure.ts"
import type { ServedItem, BatchOperation } from "../../src/inference/BatchOperation.ts"
import type { ClaimedRequest } from "../../src/usage/RequestsSql.ts"
import { claimOf, type DueLine, type LineDeps, serveLine, unservedLine } from "../../src/batches/BatchLine.ts"

const principal: DueLine["principal"] = {
  keyId: "key",
  accountId: "account",
  projectId: null,
  kind: "inference",
  scopes: [],
  limitScale: 1,
  budgets: [],
  budgetsEpoch: 0
}

const served: ServedItem = { requestId: "req_1", cost: 1n, body: '{"a":\n"b"}' }

/** A line whose attempts end like this, in order, and the claims of its attempts. */
const lineOf = (...ends: ReadonlyArray<Effect.Effect<ServedItem, Failure>>) => {
  const claims: Array<string | undefined> = []
  const batchOperation: BatchOperation = {
    operation: "embeddings",
    accept: (body, { claim, routedAsBegun }) => {
      assert.isTrue(routedAsBegun)
      claims.push(claim?.claim)
      return Effect.succeed({
        ignored: [],
        dataPolicy: body === "secret" ? "zero_retention" : "default",
        bounds: () => Result.succeed({ atLeast: 1n, upTo: 1n }),
        serve: () => ends[claims.length - 1] ?? Effect.succeed(served),
        again: () => undefined
      })
    },
    refused: ({ reason }) => ({ statusCode: 599, body: { error: reason._tag } })
  }
  const due: DueLine = {
    batchId: "b",
    index: 7,
    principal,
    batchOperation,
    input: { customId: "c", body: {}, fingerprint: "f" }
  }
  return { due, claims }
}

const deps = (row?: Partial<ClaimedRequest>, room = 0n): LineDeps & { readonly freed: Array<string> } => {
  const freed: Array<string> = []
  return {
    freed,
    budgets: { fitsWhenFree: (_, amount) => Effect.succeed(amount <= room) },
    ledger: { freeLapsed: (_, claims) => Effect.sync(() => freed.push(...claims)) },
    requests: { claims: () => Effect.succeed(row === undefined ? [] : [row as ClaimedRequest]) }
  }
}

const failed = (reason: Reason) => Effect.fail(failure(reason))
const upstream = failed({ _tag: "UpstreamError", detail: "down" })

describe("a line of a batch", () => {
  it.effect("is written as one line of the output file, and has a claim of its own", () =>
    Effect.gen(function* () {
      const { claims, due } = lineOf()
      const ended = yield* serveLine(deps(), due)
      assert.deepStrictEqual(claims, [claimOf("b", 7)])
      assert.isTrue(ended?.ok)
      assert.notInclude(ended?.line, "\n")
      assert.deepStrictEqual(JSON.parse(ended!.line), {
        id: "b-7",
        custom_id: "c",
        response: { status_code: 200, request_id: "req_1", body: { a: "b" } },
        error: null
      })
    })
  )

  it.effect("is written as one line of the error file when its request is rejected", () =>
    Effect.gen(function* () {
      for (const reason of [
        { _tag: "InvalidApiKey" },
        { _tag: "InsufficientCredits", limitSource: "balance", needed: 2n, available: 1n, posted: 1n },
        { _tag: "NoProviderAvailable", detail: "none" }
      ] as const) {
        const { claims, due } = lineOf(failed(reason))
        const ended = yield* serveLine(deps(), due)
        assert.isFalse(ended?.ok)
        assert.lengthOf(claims, 1)
        const { custom_id, response } = JSON.parse(ended!.line)
        assert.deepStrictEqual([custom_id, response.status_code, response.body], ["c", 599, { error: reason._tag }])
      }
      const bug = lineOf(Effect.die(new Error("a bug")))
      assert.include((yield* serveLine(deps(), bug.due))?.line, "InternalError")
    })
  )

  it.effect("is rejected under zero retention", () =>
    Effect.gen(function* () {
      const { due } = lineOf()
      const secret = { ...due, input: { ...due.input, body: "secret" as never } }
      assert.include((yield* serveLine(deps(), secret))?.line, "UnsupportedParameter")
    })
  )

  it.effect("waits after a temporary failure", () =>
    Effect.gen(function* () {
      for (const reason of [
        { _tag: "StoreUnavailable" },
        { _tag: "Overloaded" },
        { _tag: "IdempotencyInProgress" },
        { _tag: "RateLimitExceeded", limit: 1, retryAfterSeconds: 1 },
        { _tag: "NoProviderAvailable", detail: "resting", retryAfterSeconds: 5 },
        { _tag: "InsufficientCredits", limitSource: "in_flight", needed: 2n, available: 1n, posted: 3n }
      ] as const) {
        assert.isUndefined(yield* serveLine(deps(), lineOf(failed(reason)).due), reason._tag)
      }
    })
  )

  it.effect("waits for a budget that other requests hold, but not for a spent one", () =>
    Effect.gen(function* () {
      for (const limitSource of ["key_budget", "project_budget"] as const) {
        const refused = failed({ _tag: "InsufficientCredits", limitSource, needed: 2n, available: 0n, posted: 9n })
        assert.isUndefined(yield* serveLine(deps(undefined, 2n), lineOf(refused).due))
        assert.isFalse((yield* serveLine(deps(undefined, 1n), lineOf(refused).due))?.ok)
      }
    })
  )

  it.effect("is tried three times when providers fail", () =>
    Effect.gen(function* () {
      const third = lineOf(upstream, upstream)
      const waiting = yield* Effect.forkChild(serveLine(deps(), third.due))
      yield* TestClock.adjust("5 seconds")
      assert.isTrue((yield* Fiber.join(waiting))?.ok)
      const never = lineOf(upstream, upstream, upstream)
      const failing = yield* Effect.forkChild(serveLine(deps(), never.due))
      yield* TestClock.adjust("5 seconds")
      assert.isFalse((yield* Fiber.join(failing))?.ok)
      assert.lengthOf(never.claims, 3)
    })
  )

  it.effect("is retried after an unknown outcome, unless it was charged", () =>
    Effect.gen(function* () {
      const unavailable = failed({ _tag: "IdempotencyResultUnavailable", requestId: "req_0" })
      const lapsed = deps({ lapsed: true })
      assert.isTrue((yield* serveLine(lapsed, lineOf(unavailable).due))?.ok)
      assert.deepStrictEqual(lapsed.freed, [claimOf("b", 7)])
      const paid = deps({ lapsed: false })
      assert.isFalse((yield* serveLine(paid, lineOf(unavailable).due))?.ok)
      assert.deepStrictEqual(paid.freed, [])
    })
  )

  it.effect("reports that it was charged when its request is now rejected", () =>
    Effect.gen(function* () {
      const { claims, due } = lineOf()
      const refusing: BatchOperation = {
        ...due.batchOperation,
        accept: () => failed({ _tag: "NotFound", what: "preset", id: "gone" }),
        refused: ({ reason }) => ({ statusCode: 599, body: { error: reason } })
      }
      const gone = { ...due, batchOperation: refusing }
      const errorOf = (row?: Partial<ClaimedRequest>) =>
        Effect.map(serveLine(deps(row), gone), (end) => end && JSON.parse(end.line).response.body.error)
      assert.deepInclude(yield* errorOf(), { _tag: "NotFound" })
      assert.deepInclude(yield* errorOf({ id: "req_0", lapsed: true, cost: 0n }), { _tag: "NotFound" })
      assert.deepInclude(yield* errorOf({ id: "req_0", lapsed: false, cost: 3n }), {
        _tag: "IdempotencyResultUnavailable",
        requestId: "req_0"
      })
      assert.isUndefined(yield* errorOf({ id: "req_0", running: true }))
      assert.deepStrictEqual(claims, [])
    })
  )

  it.effect("returns its stored answer when its key was revoked after the charge", () =>
    Effect.gen(function* () {
      const revoked = (row?: Partial<ClaimedRequest>) => {
        const { due } = lineOf()
        const accept: BatchOperation["accept"] = (...asked) =>
          Effect.map(due.batchOperation.accept(...asked), (one) => ({
            ...one,
            serve: () => failed({ _tag: "InvalidApiKey" }),
            again: (answer, cost) => (answer === "kept" && cost === 3n ? '{"kept":true}' : undefined)
          }))
        return Effect.map(
          serveLine(deps(row), { ...due, batchOperation: { ...due.batchOperation, accept } }),
          (end) => end && { ok: end.ok, response: JSON.parse(end.line).response }
        )
      }
      const paid = { id: "req_0", lapsed: false, cost: 3n, answer: "kept" }
      assert.deepStrictEqual(yield* revoked(paid), {
        ok: true,
        response: { status_code: 200, request_id: "req_0", body: { kept: true } }
      })
      const errorOf = (row?: Partial<ClaimedRequest>) =>
        Effect.map(revoked(row), (end) => [end?.ok, end?.response.body.error])
      assert.deepStrictEqual(yield* errorOf({ ...paid, answer: null }), [false, "IdempotencyResultUnavailable"])
      assert.deepStrictEqual(yield* errorOf({ ...paid, answer: "a refusal" }), [false, "IdempotencyResultUnavailable"])
      assert.deepStrictEqual(yield* errorOf({ ...paid, cost: 0n, lapsed: true }), [false, "InvalidApiKey"])
      assert.deepStrictEqual(yield* errorOf(), [false, "InvalidApiKey"])
      assert.isUndefined(yield* revoked({ id: "req_0", running: true }))
    })
  )

  it.effect("is rejected alone for an unknown field", () =>
    Effect.gen(function* () {
      const { claims, due } = lineOf()
      const end = yield* serveLine(deps(), { ...due, input: { ...due.input, unknown: "more" } })
      assert.include(end?.line, "ValidationError")
      assert.deepStrictEqual(claims, [])
    })
  )

  it.effect("asks before each attempt whether it may begin, with the bytes that its answer may need", () =>
    Effect.gen(function* () {
      const asked: Array<number | undefined> = []
      const verdicts = ["go", "over"] as const
      const { claims, due } = lineOf(upstream)
      const mayBegin = (bytes: number | undefined) => Effect.sync(() => verdicts[asked.push(bytes) - 1] ?? "full")
      const waiting = yield* Effect.forkChild(serveLine(deps(), { ...due, mayBegin }))
      yield* TestClock.adjust("5 seconds")
      assert.isUndefined(yield* Fiber.join(waiting))
      assert.deepStrictEqual([asked.length, claims.length], [2, 2])
      const full = yield* serveLine(deps(), { ...lineOf().due, mayBegin })
      assert.strictEqual(JSON.parse(full!.line).error.code, "output_too_large")
    })
  )

  it("states why it was not served", () => {
    const { line, ok } = unservedLine("b", 1, null, { code: "batch_expired", message: "late" })
    assert.isFalse(ok)
    assert.deepStrictEqual(JSON.parse(line), {
      id: "b-1",
      custom_id: null,
      response: null,
      error: { code: "batch_expired", message: "late" }
    })
  })
})
