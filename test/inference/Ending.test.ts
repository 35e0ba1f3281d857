import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { failure } from "../../src/domain/Failure.ts"
import { type Candidate, defaultPolicy } from "../../src/domain/Plan.ts"
import { noTokens } from "../../src/domain/Usage.ts"
import { abandon, closeServed, closeUnserved, type ServedEnd } from "../../src/inference/Ending.ts"
import type { AdmittedRequest, AdmissionOptions } from "../../src/inference/Admission.ts"
import type { EndResult, EndingRequest } from "../../src/ledger/Ending.ts"
import type { RequestEnd } from "../../src/ledger/Operation.ts"
import { Unavailable } from "../../src/platform/database/Sql.ts"
import { PoolError } from "../../src/providers/pool/PoolError.ts"

const candidate = {
  model: { id: "m", modality: "embedding" },
  offer: { provider: "p", cost: undefined },
  price: {
    unit: "token",
    perRequest: 0n,
    tiers: [{ abovePromptTokens: 0, rates: { input: 1_000n, cached: 0n, cacheWrite: 0n, output: 0n } }]
  }
} as unknown as Candidate

const admittedWith = (
  dataPolicy: "default" | "zero_retention" = "default",
  request: { readonly charge?: true; readonly claim?: undefined } = {}
): AdmittedRequest =>
  ({
    request: {
      requestId: "req_1",
      principal: { accountId: "acc_1" },
      model: "m",
      arrivedAt: 0,
      claim: { idempotencyKey: "k", claim: "c", fingerprint: "f" },
      ...request
    },
    plan: { requestedModels: ["m"], policy: { ...defaultPolicy, dataPolicy }, candidates: [candidate] },
    held: 10n,
    holdMs: 0,
    heldAt: 0
  }) as unknown as AdmittedRequest

interface Book {
  readonly request: EndingRequest
  readonly cost: bigint | undefined
  readonly facts: RequestEnd
}

/** Options with a ledger that records the requests that it must end, and either confirms them or fails. */
const noting = ({ confirms = true } = {}) => {
  const books: Array<Book> = []
  const givenBack: Array<EndingRequest> = []
  const end = (request: EndingRequest, cost: bigint | undefined, facts: RequestEnd) => {
    books.push({ request, cost, facts })
    return confirms
      ? Effect.succeed<EndResult>({ cost: cost ?? 0n, posted: 5n })
      : Effect.fail(new Unavailable({ store: "database", cause: "cut" }))
  }
  const giveBack = (request: EndingRequest) => Effect.sync(() => void givenBack.push(request))
  const options = {
    ledger: { end, giveBack },
    metrics: { request: () => undefined, ledger: { settled: () => undefined } }
  } as unknown as AdmissionOptions
  return { books, givenBack, options }
}

const refused = { _tag: "ProviderRefused", provider: "p", detail: "no" } as const
const error = new PoolError({
  reason: refused,
  attempts: [{ provider: "p", model: "m", outcome: "failed", index: 0, startedAt: 1, endedAt: 2 }],
  failures: [{ provider: "p", model: "m", fault: undefined }]
})

const unserved = (cause: Cause.Cause<PoolError>, admitted = admittedWith(), before?: typeof error.attempts) =>
  Effect.gen(function* () {
    const { books, options } = noting()
    const exit: Exit.Exit<never, PoolError> = Exit.failCause(cause)
    if (Exit.isSuccess(exit)) return assert.fail("the request was served")
    const ended = yield* Effect.exit(closeUnserved(options, admitted, exit, before))
    return { book: books[0]!, ended }
  })

const endWith = (
  outcome: ServedEnd<Candidate["price"]>["outcome"],
  isGiven = false
): ServedEnd<Candidate["price"]> => ({
  candidate,
  attempts: [{ provider: "p", model: "m", outcome: "served", index: 0, startedAt: 1 }],
  outcome,
  firstTokenMs: null,
  endedAt: 0,
  isGiven
})

const served = (outcome: ServedEnd<Candidate["price"]>["outcome"], admitted = admittedWith()) =>
  Effect.gen(function* () {
    const { books, options } = noting()
    const closed = yield* closeServed(options, admitted, endWith(outcome), () => ({ kept: true }))
    return { book: books[0]!, closed }
  })

describe("a request that no provider served", () => {
  it.effect("is released, and fails with the reason of the provider pool", () =>
    Effect.gen(function* () {
      const { book, ended } = yield* unserved(Cause.fail(error))
      assert.isUndefined(book.cost)
      assert.deepInclude(book.facts, { status: "failed", keepClaim: true, provider: null })
      assert.deepStrictEqual(book.facts.answer, { _tag: "Refusal", reason: refused })
      assert.deepStrictEqual(ended, Exit.fail(failure(refused, error.failures)))
    })
  )

  it.effect("stores and returns no provider message under zero retention", () =>
    Effect.gen(function* () {
      const { book, ended } = yield* unserved(Cause.fail(error), admittedWith("zero_retention"))
      assert.isNull(book.facts.answer)
      assert.notInclude(JSON.stringify(book.facts.closed), refused.detail + '"')
      assert.deepStrictEqual(ended, Exit.fail(failure(refused)))
    })
  )

  it.effect("distinguishes a defect from a client that disconnected, and stores the attempts until then", () =>
    Effect.gen(function* () {
      const bug = yield* unserved(Cause.die(new Error("a bug")))
      assert.deepInclude(bug.book.facts, { status: "failed", keepClaim: false, answer: null })
      const left = yield* unserved(Cause.interrupt(), admittedWith(), error.attempts)
      assert.deepInclude(left.book.facts, { status: "cancelled", keepClaim: false, answer: null })
      assert.include(JSON.stringify(left.book.facts.closed), '"failed"')
    })
  )
})

describe("a request that a provider served", () => {
  const delivered = { reported: 7, counted: () => 9 }

  it.effect("is settled, and stores a complete answer except under zero retention", () =>
    Effect.gen(function* () {
      const whole = yield* served({ _tag: "Whole", delivered })
      assert.deepInclude(whole.book, { cost: 7n })
      assert.deepInclude(whole.book.facts, { status: "succeeded", keepClaim: true, provider: "p" })
      assert.deepStrictEqual(whole.book.facts.answer, { kept: true })
      assert.deepInclude(whole.closed, { cost: 7n, posted: 5n, usage: { ...noTokens, input: 7 } })
      const secret = yield* served({ _tag: "Whole", delivered }, admittedWith("zero_retention"))
      assert.isNull(secret.book.facts.answer)
    })
  )

  it.effect("is charged for a partial answer and does not store it; only a broken answer fails its attempt", () =>
    Effect.gen(function* () {
      const broke = { _tag: "UpstreamError", detail: "broke off" } as const
      const partial = yield* served({ _tag: "Partial", delivered, error: broke })
      assert.deepInclude(partial.book, { cost: 7n })
      assert.deepInclude(partial.book.facts, { status: "failed", keepClaim: true, answer: null })
      assert.strictEqual(partial.closed.carried.attempts[0]?.outcome, "failed")
      const left = yield* served({ _tag: "Partial", delivered, error: undefined })
      assert.deepInclude(left.book.facts, { status: "cancelled", answer: null })
      assert.strictEqual(left.closed.carried.attempts[0]?.outcome, "served")
    })
  )
})

describe("a request whose end the database does not confirm", () => {
  const whole = { _tag: "Whole", delivered: { reported: 7, counted: () => 9 } } as const

  /** The ids of the requests that are given back, when the answer was or was not sent before its end. */
  const unconfirmed = (admitted: AdmittedRequest, isGiven: boolean) =>
    Effect.gen(function* () {
      const { givenBack, options } = noting({ confirms: false })
      const lost = yield* Effect.flip(closeServed(options, admitted, endWith(whole, isGiven), () => ({ kept: true })))
      assert.strictEqual(lost.reason._tag, "StoreUnavailable")
      return givenBack.map(({ requestId }) => requestId)
    })

  it.effect("is given back unless its client has received content or a repeat can return the answer", () =>
    Effect.gen(function* () {
      const stored = admittedWith()
      const unkeyed = admittedWith("default", { claim: undefined })
      const secret = admittedWith("zero_retention")
      assert.deepStrictEqual(yield* unconfirmed(unkeyed, false), ["req_1"])
      assert.deepStrictEqual(yield* unconfirmed(secret, false), ["req_1"])
      assert.deepStrictEqual(yield* unconfirmed(stored, false), [])
      assert.deepStrictEqual(yield* unconfirmed(unkeyed, true), [])
    })
  )
})

describe("a request that hits a defect", () => {
  it.effect("costs nothing, whether it was held or charged up front", () =>
    Effect.gen(function* () {
      const { books, options } = noting()
      yield* abandon(options, admittedWith())
      yield* abandon(options, admittedWith("default", { charge: true }))
      assert.deepStrictEqual(
        books.map(({ cost, request }) => [request.charged, cost]),
        [
          [undefined, undefined],
          [10n, undefined]
        ]
      )
      assert.deepInclude(books[0]!.facts, { status: "failed", keepClaim: false })
    })
  )
})
