import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Auth } from "../../src/auth/Auth.ts"
import { Customers, OPERATOR } from "../../src/billing/Customers.ts"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { everyProvider } from "../support/Providers.ts"
import { noChanges } from "../../src/catalogue/Changes.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import type { OverlayPrice } from "../../src/catalogue/Overlay.ts"
import { failure, type Reason } from "../../src/domain/Failure.ts"
import type { Nano } from "../../src/domain/Money.ts"
import { defaultPolicy } from "../../src/domain/Plan.ts"
import { maximumCost, tokenCost, unitCost } from "../../src/domain/Pricing.ts"
import { fixedBound } from "../../src/domain/TokenBound.ts"
import { noTokens } from "../../src/domain/Usage.ts"
import { Work, type WorkRequest } from "../../src/inference/Work.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import type { HoldOperation } from "../../src/ledger/Operation.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import type { Provider } from "../../src/providers/Provider.ts"
import { ProviderError, type ProviderFault } from "../../src/providers/ProviderError.ts"
import { PoolError } from "../../src/providers/pool/PoolError.ts"
import { ProviderPool, type WorkAttempt } from "../../src/providers/pool/ProviderPool.ts"
import type { Embeddings } from "../../src/providers/Work.ts"
import type { SearchResults, Ranking } from "../../src/domain/Work.ts"
import { Router } from "../../src/router/Router.ts"
import { UsageReads } from "../../src/usage/UsageReads.ts"
import { Receipts } from "../../src/usage/Receipts.ts"
import { Requests } from "../../src/usage/Requests.ts"
import { layer as database } from "../support/Database.ts"
import { withFacts } from "../support/Facts.ts"

const BALANCE = 1_000_000_000n
const PROMPT_BOUND = 1_000
const QUERIES = 3

const ranked: Ranking = { results: [{ index: 1, score: 0.5 }], tokens: 400 }
const found: SearchResults = { results: [{ title: "t", url: "https://example.com/", snippet: "s", queryIndex: 0 }] }

const fails = (provider: string, fault: ProviderFault) => Effect.fail(new ProviderError({ provider, fault }))
const serverError: ProviderFault = { _tag: "ServerError", status: 500, detail: "down" }

const notAsked = () => Effect.die(new Error("a chat was requested"))
const provider = (id: string, work: Partial<Provider>): Provider => ({
  id,
  stopsBillingOnAbort: true,
  chat: notAsked,
  chatStream: notAsked,
  ...work
})

/** A provider whose answer waits for the test, and which reports when its call is interrupted. */
const waiting = (stopsBillingOnAbort: boolean) =>
  Effect.gen(function* () {
    const called = yield* Deferred.make<void>()
    const answer = yield* Deferred.make<Ranking>()
    const disconnected = yield* Deferred.make<void>()
    const rerank = () =>
      Effect.andThen(Deferred.succeed(called, undefined), Deferred.await(answer)).pipe(
        Effect.onInterrupt(() => Deferred.succeed(disconnected, undefined))
      )
    return { provider: provider("voyage", { stopsBillingOnAbort, rerank }), called, answer, disconnected }
  })

const clocks = { connectMs: 60_000, firstTokenMs: 60_000, idleMs: 60_000, totalMs: 60_000 }

/** Azure charges more for an embedding than OpenAI. */
const dear: OverlayPrice = {
  model: "text-embedding-3-small",
  provider: "azure",
  unit: "token",
  inputUsdPerMillion: 5,
  source: "this test"
}
const changes = { load: Effect.succeed({ ...noChanges, prices: [dear] }), version: Effect.succeed("") }

const claimOf = (fingerprint: string) => ({ idempotencyKey: "k", claim: "POST /rerank k", fingerprint })

const scene = (
  providers: ReadonlyArray<Provider>,
  {
    balance = BALANCE,
    chargeTtl = Duration.minutes(5),
    delivery = Duration.minutes(2),
    holdTtl = Duration.minutes(5),
    shutdownGrace = Duration.seconds(20)
  }: {
    readonly balance?: Nano
    readonly chargeTtl?: Duration.Duration
    readonly delivery?: Duration.Duration
    readonly holdTtl?: Duration.Duration
    readonly shutdownGrace?: Duration.Duration
  } = {}
) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const pool = ProviderPool.layerFrom({ providers, clocks, observe: () => undefined })
    const options = { holdTtl, chargeTtl, delivery, drain: Duration.minutes(1), shutdownGrace }
    const rooms = Work.layerFrom(options).pipe(
      Layer.provideMerge(
        Layer.mergeAll(pool, Router.layer, Requests.layer, Receipts.layer.pipe(Layer.provide(UsageReads.layerOf())))
      ),
      Layer.provideMerge(
        Layer.mergeAll(
          Catalogue.layerFrom({ sandbox: true, keyed: everyProvider, hosts: [], changes }),
          LiveFigures.layer
        )
      ),
      Layer.provideMerge(Layer.mergeAll(Auth.layer, Customers.layer)),
      Layer.provideMerge(Layer.mergeAll(Ledger.layer, Accounts.layer, Keys.layer)),
      Layer.provideMerge(Audit.layer)
    )
    const stores = yield* Layer.build(database)
    const context = yield* Layer.buildWithScope(rooms.pipe(Layer.provide(Layer.succeedContext(stores))), scope)
    return yield* Effect.gen(function* () {
      const auth = yield* Auth
      const catalogue = yield* Catalogue
      const ledger = yield* Ledger
      const [receipts, requests] = [yield* Receipts, yield* Requests]
      const opened = yield* (yield* Customers).open("work@example.com", balance, OPERATOR)
      const accountId = opened.account.id
      const principal = yield* auth.authenticate(`Bearer ${opened.inferenceKey}`, "inference")
      const paid = () => ({
        requestId: newRequestId(),
        principal,
        policy: defaultPolicy,
        claim: undefined,
        steering: undefined,
        arrivedAt: performance.now()
      })
      const rerank = (more: Partial<WorkRequest<Ranking>> = {}): WorkRequest<Ranking> => ({
        ...paid(),
        operation: "rerank",
        model: "rerank-2.5",
        modality: "rerank",
        bound: { kind: "tokens", prompt: fixedBound(PROMPT_BOUND) },
        ask: (one, call) =>
          one.rerank?.(call, { query: "q", documents: ["a", "b"], topN: undefined, truncation: false }),
        used: ({ tokens }) => tokens,
        counted: () => 123,
        keep: (answer) => answer,
        ...more
      })
      const search = (more: Partial<WorkRequest<SearchResults>> = {}): WorkRequest<SearchResults> => ({
        ...paid(),
        operation: "search",
        model: "tavily-search",
        modality: "search",
        bound: { kind: "units", units: QUERIES },
        ask: (one, call) => one.search?.(call, {} as never),
        used: () => QUERIES,
        counted: () => QUERIES,
        keep: (answer) => answer,
        ...more
      })
      const tokenPrice = (model: string, at: string) => {
        const price = catalogue.find(model)?.offers.find((offer) => offer.provider === at)?.price
        return price?.unit === "token" ? price : assert.fail(`${model} has no price per token at ${at}`)
      }
      const unitPrice = (model: string, at: string) => {
        const price = catalogue.find(model)?.offers.find((offer) => offer.provider === at)?.cost
        return price === undefined || price.unit === "token" ? assert.fail(`${model} has no unit cost at ${at}`) : price
      }
      const row = (id: string) => Effect.map(requests.find(accountId, id), (one) => withFacts(one!))
      const ended = (id: string): ReturnType<typeof row> =>
        Effect.flatMap(row(id), (one) => (one.status === "open" ? ended(id) : Effect.succeed(one)))
      const price = tokenPrice("rerank-2.5", "voyage")
      return {
        work: yield* Work,
        ended,
        ledger,
        perSearch: unitPrice("tavily-search", "tavily"),
        price,
        rerank,
        row,
        search,
        tokenPrice,
        sql: yield* SqlClient.SqlClient,
        hold: maximumCost(price, PROMPT_BOUND, 0),
        /** Lists the ids of the receipts with this status. */
        listed: (status: string) =>
          Effect.map(receipts.page(accountId, { limit: 10, cursor: undefined, model: undefined, status }), ({ rows }) =>
            rows.map(({ id }) => id)
          ),
        money: Effect.map(ledger.balance(accountId), (one) => one!),
        close: Scope.close(scope, Exit.void)
      }
    }).pipe(Effect.provide(context), Effect.provide(stores))
  })

const ranking = (more: Partial<Provider> = {}) => provider("voyage", { rerank: () => Effect.succeed(ranked), ...more })
const searching = (more: Partial<Provider> = {}) => provider("tavily", { search: () => Effect.succeed(found), ...more })

describe("Work", () => {
  it.live("charges the tokens that the provider reports, and shows them on the receipt", () =>
    Effect.gen(function* () {
      const { hold, money, price, rerank, row, work } = yield* scene([ranking()])
      const request = rerank()
      const answer = yield* work.run(request)
      const cost = tokenCost(price, { ...noTokens, input: 400 })
      const { created, ...rest } = answer
      assert.deepStrictEqual(rest, {
        requestId: request.requestId,
        resolvedModel: "rerank-2.5",
        provider: "voyage",
        value: ranked,
        used: 400,
        cost,
        balanceWarning: rest.balanceWarning,
        replayed: false
      })
      assert.include(rest.balanceWarning, "below $5.00")
      assert.closeTo(created, Date.now() / 1_000, 60)
      assert.deepStrictEqual(yield* money, { posted: BALANCE - cost, held: 0n })
      const receipt = yield* row(request.requestId)
      assert.deepInclude(receipt, {
        operation: "rerank",
        status: "succeeded",
        held: hold,
        settled: cost,
        absorbed: 0n,
        provider: "voyage"
      })
      const { closed } = receipt
      assert.deepInclude(closed, { usage: { ...noTokens, input: 400 }, basis: "reported", finishReason: null })
      assert.deepStrictEqual(
        closed?.routing?.provider_attempts?.map(({ outcome }) => outcome),
        ["served"]
      )
      assert.isFalse(receipt.opened.streamed)
    }).pipe(Effect.scoped)
  )

  it.live("charges the gateway's count when the provider reports nothing, and accepts a reported zero", () =>
    Effect.gen(function* () {
      const answers = [
        { ...ranked, tokens: undefined },
        { ...ranked, tokens: 0 }
      ]
      const rerank = () => Effect.succeed(answers.shift()!)
      const scenery = yield* scene([provider("voyage", { rerank })])
      const request = scenery.rerank()
      const counted = yield* scenery.work.run(request)
      assert.deepInclude(counted, { used: 123, cost: tokenCost(scenery.price, { ...noTokens, input: 123 }) })
      assert.strictEqual((yield* scenery.row(request.requestId)).closed?.basis, "counted")
      assert.deepInclude(yield* scenery.work.run(scenery.rerank()), { used: 0, cost: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("charges units at their price, and records both in the receipt", () =>
    Effect.gen(function* () {
      const { row, search, work } = yield* scene([searching()])
      const request = search()
      const price = { unit: "request", perUnit: 8_000_000_000n } as const
      const answer = yield* work.run(request)
      assert.deepInclude(answer, { value: found, used: QUERIES, cost: unitCost(price, QUERIES), provider: "tavily" })
      const { closed, held } = yield* row(request.requestId)
      assert.strictEqual(held, unitCost(price, QUERIES))
      assert.deepInclude(closed as object, { usage: { units: QUERIES, unit: "request" }, basis: "reported" })
      assert.deepStrictEqual(closed?.rates, { unit: "request", perUnit: 8_000_000_000 })
    }).pipe(Effect.scoped)
  )

  it.live("never charges more than the hold, and absorbs the rest", () =>
    Effect.gen(function* () {
      const rerank = () => Effect.succeed({ ...ranked, tokens: 5_000 })
      const scenery = yield* scene([provider("voyage", { rerank })])
      const request = scenery.rerank()
      const answer = yield* scenery.work.run(request)
      assert.strictEqual(answer.cost, scenery.hold)
      const { absorbed, settled } = yield* scenery.row(request.requestId)
      const cost = tokenCost(scenery.price, { ...noTokens, input: 5_000 })
      assert.deepStrictEqual({ absorbed, settled }, { absorbed: cost - scenery.hold, settled: scenery.hold })
    }).pipe(Effect.scoped)
  )

  it.live("charges nothing when no provider serves, and maps the failure", () =>
    Effect.gen(function* () {
      const down = searching({ search: () => fails("tavily", serverError) })
      const { ended, money, search, work } = yield* scene([down])
      const plain = yield* Effect.flip(work.run(search()))
      assert.strictEqual(plain.reason._tag, "UpstreamError")
      const request = search({ failed: (reason) => ({ _tag: "UpstreamTimeout", clock: reason._tag }) })
      const named = yield* Effect.flip(work.run(request))
      assert.deepStrictEqual(named.reason, { _tag: "UpstreamTimeout", clock: "UpstreamError" })
      const { closed, settled, status } = yield* ended(request.requestId)
      assert.deepStrictEqual({ settled, status }, { settled: 0n, status: "failed" })
      assert.deepInclude(closed as object, {
        usage: { units: 0, unit: "request" },
        basis: "none",
        error: { _tag: "UpstreamTimeout", clock: "UpstreamError" }
      })
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("charges nothing for an empty answer", () =>
    Effect.gen(function* () {
      const { ended, money, rerank, work } = yield* scene([ranking()])
      const request = rerank({ empty: () => ({ _tag: "EmptyCompletion" }) })
      assert.strictEqual((yield* Effect.flip(work.run(request))).reason._tag, "EmptyCompletion")
      assert.deepInclude(yield* ended(request.requestId), { status: "failed", settled: 0n, provider: "voyage" })
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("falls back to another provider within the hold for the most expensive one", () =>
    Effect.gen(function* () {
      const embedded: Embeddings = { data: new Uint8Array([91, 93]), tokens: 10 }
      const embed = () => Effect.succeed(embedded)
      const providers = [
        provider("openai", { embed: () => fails("openai", serverError) }),
        provider("azure", { embed })
      ]
      const { rerank, row, tokenPrice, work } = yield* scene(providers)
      const request: WorkRequest<Embeddings> = {
        ...rerank(),
        model: "text-embedding-3-small",
        modality: "embedding",
        ask: (one, call) => one.embed?.(call, {} as never),
        used: ({ tokens }) => tokens,
        keep: () => undefined,
        empty: undefined,
        restore: undefined,
        rest: undefined,
        deliver: undefined
      }
      const answer = yield* work.run(request)
      const price = tokenPrice("text-embedding-3-small", "azure")
      const cost = tokenCost(price, { ...noTokens, input: 10 })
      assert.deepInclude(answer, { provider: "azure", value: embedded, cost })
      const { closed, held } = yield* row(request.requestId)
      assert.isTrue(price.tiers[0].rates.input > tokenPrice(request.model, "openai").tiers[0].rates.input)
      assert.strictEqual(held, maximumCost(price, PROMPT_BOUND, 0))
      assert.deepStrictEqual(
        closed?.routing?.provider_attempts?.map(({ outcome, provider }) => `${provider} ${outcome}`),
        ["openai failed_over", "azure served"]
      )
      assert.deepStrictEqual(closed?.rates, { tiers: [[0, 5_000_000, 5_000_000, 5_000_000, 0]] })
    }).pipe(Effect.scoped)
  )

  it.live("rejects a request that cannot be planned, before a hold", () =>
    Effect.gen(function* () {
      const { money, rerank, work } = yield* scene([ranking()])
      const reasonOf = (more: Partial<WorkRequest<Ranking>>) =>
        Effect.map(Effect.flip(work.run(rerank(more))), ({ reason }) => reason)
      assert.strictEqual((yield* reasonOf({ model: "nothing" }))._tag, "UnknownModel")
      assert.deepStrictEqual(yield* reasonOf({ model: "gpt-4o-mini" }), {
        _tag: "UnknownModel",
        model: "gpt-4o-mini",
        detail: "gpt-4o-mini is not a rerank model"
      })
      const long = { fits: (window: number) => window > 32_000, promptTokens: () => 40_000, param: "documents" }
      assert.deepStrictEqual(yield* reasonOf(long), {
        _tag: "ContextLengthExceeded",
        tokens: 40_000,
        window: 32_000,
        param: "documents"
      })
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("calls no provider when the balance does not cover the maximum cost", () =>
    Effect.gen(function* () {
      const unasked = ranking({ rerank: () => Effect.die(new Error("called without a hold")) })
      const { hold, rerank, work } = yield* scene([unasked], { balance: 49_999n })
      const { reason } = yield* Effect.flip(work.run(rerank()))
      assert.deepStrictEqual(reason, {
        _tag: "InsufficientCredits",
        limitSource: "balance",
        needed: hold,
        available: 49_999n,
        posted: 49_999n
      })
    }).pipe(Effect.scoped)
  )

  it.live("admits only one of two concurrent requests when the balance covers one", () =>
    Effect.gen(function* () {
      const { answer, called, provider } = yield* waiting(true)
      const { hold, money, price, rerank, work } = yield* scene([provider], { balance: 50_000n })
      assert.strictEqual(hold, 50_000n)
      const first = yield* Effect.forkChild(work.run(rerank()))
      yield* Deferred.await(called)
      const { reason } = yield* Effect.flip(work.run(rerank()))
      assert.deepInclude(reason, { _tag: "InsufficientCredits", limitSource: "in_flight", available: 0n })
      yield* Deferred.succeed(answer, ranked)
      const { cost } = yield* Fiber.join(first)
      assert.strictEqual(cost, tokenCost(price, { ...noTokens, input: 400 }))
      assert.deepStrictEqual(yield* money, { posted: 50_000n - cost, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("stops the provider when the client disconnects and an abort stops billing, and charges nothing", () =>
    Effect.gen(function* () {
      const { called, disconnected, provider } = yield* waiting(true)
      const { ended, money, rerank, work } = yield* scene([provider])
      const request = rerank()
      const fiber = yield* Effect.forkChild(work.run(request))
      yield* Deferred.await(called)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(disconnected)
      assert.deepInclude(yield* ended(request.requestId), { status: "cancelled", settled: 0n })
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("reads on and settles when an abort does not stop billing", () =>
    Effect.gen(function* () {
      const { answer, called, provider } = yield* waiting(false)
      const { ended, price, rerank, row, work } = yield* scene([provider])
      const request = rerank()
      const fiber = yield* Effect.forkChild(work.run(request))
      yield* Deferred.await(called)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* row(request.requestId)).status, "open")
      yield* Deferred.succeed(answer, ranked)
      const settled = tokenCost(price, { ...noTokens, input: 400 })
      assert.deepInclude(yield* ended(request.requestId), { status: "succeeded", settled })
    }).pipe(Effect.scoped)
  )

  it.live("finishes and settles running work when the service stops", () =>
    Effect.gen(function* () {
      const { answer, called, provider } = yield* waiting(true)
      const { close, rerank, work } = yield* scene([provider])
      const fiber = yield* Effect.forkChild(work.run(rerank()))
      yield* Deferred.await(called)
      const closing = yield* Effect.forkChild(close)
      yield* Deferred.succeed(answer, ranked)
      assert.deepStrictEqual((yield* Fiber.join(fiber)).value, ranked)
      yield* Fiber.join(closing)
    }).pipe(Effect.scoped)
  )

  it.live("renews its hold for as long as it runs", () =>
    Effect.gen(function* () {
      const { answer, called, provider } = yield* waiting(true)
      const { rerank, row, sql, work } = yield* scene([provider], { holdTtl: Duration.seconds(2) })
      const request = rerank()
      const fiber = yield* Effect.forkChild(work.run(request))
      yield* Deferred.await(called)
      const renewed: Effect.Effect<void, SqlError.SqlError> = Effect.flatMap(
        sql`SELECT 1 FROM request WHERE id = ${request.requestId} AND expires_at > created_at + interval '2.2 seconds'`,
        (rows) => (rows.length === 0 ? renewed : Effect.void)
      )
      yield* renewed
      yield* Deferred.succeed(answer, ranked)
      yield* Fiber.join(fiber)
      assert.strictEqual((yield* row(request.requestId)).status, "succeeded")
    }).pipe(Effect.scoped)
  )

  it.live("charges nothing for an answer after the hold has expired", () =>
    Effect.gen(function* () {
      const { answer, called, provider } = yield* waiting(true)
      const { ledger, money, price, rerank, row, sql, work } = yield* scene([provider])
      const request = rerank()
      const fiber = yield* Effect.forkChild(work.run(request))
      yield* Deferred.await(called)
      yield* sql`UPDATE request SET expires_at = now() - interval '1 second' WHERE id = ${request.requestId}`
      assert.strictEqual(yield* ledger.expireOverdue, 1)
      yield* Deferred.succeed(answer, ranked)
      assert.deepInclude(yield* Fiber.join(fiber), { cost: 0n, balanceWarning: undefined })
      const absorbed = tokenCost(price, { ...noTokens, input: 400 })
      assert.deepInclude(yield* row(request.requestId), { status: "failed", settled: 0n, absorbed })
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("releases the hold after a defect", () =>
    Effect.gen(function* () {
      const broken = ranking({ rerank: () => Effect.die(new Error("a bug")) })
      const first = yield* scene([broken])
      assert.isTrue(Exit.isFailure(yield* Effect.exit(first.work.run(first.rerank()))))
      assert.deepStrictEqual(yield* first.money, { posted: BALANCE, held: 0n })
      const wrong = yield* scene([ranking({ rerank: () => Effect.succeed({ ...ranked, tokens: 1.5 }) })])
      assert.isTrue(Exit.isFailure(yield* Effect.exit(wrong.work.run(wrong.rerank()))))
      assert.deepStrictEqual(yield* wrong.money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("replays the stored answer under its idempotency key", () =>
    Effect.gen(function* () {
      let asked = 0
      const once = ranking({ rerank: () => Effect.sync(() => (asked++, ranked)) })
      const { money, rerank, work } = yield* scene([once])
      const form = {
        keep: (answer: Ranking) => ({ text: JSON.stringify(answer) }),
        restore: (kept: unknown) => JSON.parse((kept as { text: string }).text)
      }
      const request = rerank({ claim: claimOf("f"), ...form })
      const first = yield* work.run(request)
      const again = yield* work.run({ ...request, requestId: newRequestId() })
      assert.deepStrictEqual(again, { ...first, replayed: true })
      assert.strictEqual(asked, 1)
      assert.strictEqual((yield* money).posted, BALANCE - first.cost)
      const gone = yield* work.run({ ...request, model: "nothing", requestId: newRequestId() })
      assert.deepStrictEqual(gone, { ...first, replayed: true })
      const other = yield* Effect.flip(work.run(rerank({ claim: claimOf("another") })))
      assert.strictEqual(other.reason._tag, "IdempotencyKeyReused")
    }).pipe(Effect.scoped)
  )

  it.live("fails for a repeat of a running request, or of one whose answer was not stored", () =>
    Effect.gen(function* () {
      const { answer, called, provider } = yield* waiting(true)
      const { rerank, work } = yield* scene([provider])
      const request = rerank({ claim: claimOf("f"), keep: () => undefined })
      const fiber = yield* Effect.forkChild(work.run(request))
      yield* Deferred.await(called)
      const repeat = Effect.flip(work.run({ ...request, requestId: newRequestId() }))
      assert.strictEqual((yield* repeat).reason._tag, "IdempotencyInProgress")
      yield* Deferred.succeed(answer, ranked)
      yield* Fiber.join(fiber)
      const late = Effect.flip(work.run({ ...request, requestId: newRequestId() }))
      assert.deepStrictEqual((yield* late).reason, {
        _tag: "IdempotencyResultUnavailable",
        requestId: request.requestId
      })
    }).pipe(Effect.scoped)
  )

  it.live("replays a final refusal, and frees the idempotency key after any other failure", () =>
    Effect.gen(function* () {
      const refused: ProviderFault = { _tag: "Refused", status: 400, detail: "no such language" }
      const answers = [fails("voyage", serverError), fails("voyage", refused)]
      const { rerank, work } = yield* scene([ranking({ rerank: () => answers.shift() ?? Effect.succeed(ranked) })])
      const attempt = () => Effect.flip(work.run(rerank({ claim: claimOf("f") })))
      assert.strictEqual((yield* attempt()).reason._tag, "UpstreamError")
      const first = yield* attempt()
      assert.deepInclude(first.reason, { _tag: "ProviderRefused", detail: "no such language" })
      const again = yield* attempt()
      assert.deepStrictEqual(again.reason, first.reason)
      assert.isTrue(again.replayed)
    }).pipe(Effect.scoped)
  )

  it.live("stores nothing under zero retention", () =>
    Effect.gen(function* () {
      const finding = provider("perplexity", { search: () => Effect.succeed(found) })
      const { search, work } = yield* scene([finding])
      const policy = { ...defaultPolicy, dataPolicy: "zero_retention" } as const
      const request = search({ model: "sonar-search", policy, claim: claimOf("f") })
      assert.strictEqual((yield* work.run(request)).provider, "perplexity")
      const again = yield* Effect.flip(work.run({ ...request, requestId: newRequestId() }))
      assert.strictEqual(again.reason._tag, "IdempotencyResultUnavailable")
    }).pipe(Effect.scoped)
  )
})

const perQuery = unitCost({ unit: "request", perUnit: 8_000_000_000n }, 1)
const charged = { charge: true, used: ({ results }: SearchResults) => results.length } as const

describe("Work that is charged up front", () => {
  it.live("costs the price of the delivered part, and the rest is refunded", () =>
    Effect.gen(function* () {
      const { money, row, search, work } = yield* scene([searching()])
      const request = search({ ...charged, claim: claimOf("f") })
      const answer = yield* work.run(request)
      assert.deepInclude(answer, { value: found, used: 1, cost: perQuery, provider: "tavily", replayed: false })
      assert.include(answer.balanceWarning, "below $5.00")
      assert.deepStrictEqual(yield* money, { posted: BALANCE - perQuery, held: 0n })
      const receipt = yield* row(request.requestId)
      assert.deepInclude(receipt, {
        status: "succeeded",
        held: 3n * perQuery,
        settled: 3n * perQuery,
        refunded: 2n * perQuery,
        absorbed: 0n,
        provider: "tavily"
      })
      assert.deepInclude(receipt.closed as object, { usage: { units: 1, unit: "request" }, basis: "reported" })
      const again = yield* work.run({ ...request, requestId: newRequestId() })
      assert.deepStrictEqual(again, { ...answer, replayed: true })
      assert.deepStrictEqual(yield* money, { posted: BALANCE - perQuery, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("is charged while it runs, with an open receipt, and rejects a repeat", () =>
    Effect.gen(function* () {
      const { answer, called, provider } = yield* waiting(true)
      const { hold, ledger, listed, money, price, rerank, row, work } = yield* scene([provider])
      const request = rerank({ charge: true, claim: claimOf("f") })
      const fiber = yield* Effect.forkChild(work.run(request))
      yield* Deferred.await(called)
      assert.deepStrictEqual(yield* money, { posted: BALANCE - hold, held: 0n })
      assert.deepInclude(yield* row(request.requestId), {
        status: "open",
        closed_at: null,
        settled: hold,
        refunded: 0n,
        closed: null
      })
      assert.deepStrictEqual([yield* listed("open"), yield* listed("succeeded")], [[request.requestId], []])
      const repeat = yield* Effect.flip(work.run({ ...request, requestId: newRequestId() }))
      assert.strictEqual(repeat.reason._tag, "IdempotencyInProgress")
      // It is not overdue, so the sweep leaves it.
      assert.strictEqual(yield* ledger.refundOverdue, 0)
      yield* Deferred.succeed(answer, ranked)
      const { cost } = yield* Fiber.join(fiber)
      assert.strictEqual(cost, tokenCost(price, { ...noTokens, input: 400 }))
      assert.deepInclude(yield* row(request.requestId), { status: "succeeded", refunded: hold - cost })
      assert.deepStrictEqual([yield* listed("open"), yield* listed("succeeded")], [[], [request.requestId]])
      assert.deepStrictEqual(yield* money, { posted: BALANCE - cost, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("costs nothing when no provider serves, and frees the idempotency key", () =>
    Effect.gen(function* () {
      const answers = [fails("tavily", serverError)]
      const answering = () => answers.shift() ?? Effect.succeed(found)
      const { ended, money, search, work } = yield* scene([searching({ search: answering })])
      const request = search({ ...charged, claim: claimOf("f") })
      assert.strictEqual((yield* Effect.flip(work.run(request))).reason._tag, "UpstreamError")
      assert.deepInclude(yield* ended(request.requestId), {
        status: "failed",
        settled: 3n * perQuery,
        refunded: 3n * perQuery
      })
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
      assert.isFalse((yield* work.run({ ...request, requestId: newRequestId() })).replayed)
      assert.deepStrictEqual(yield* money, { posted: BALANCE - perQuery, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("costs nothing for an empty answer, or after a defect of the gateway", () =>
    Effect.gen(function* () {
      const empty = yield* scene([searching()])
      const none = empty.search({ ...charged, empty: () => ({ _tag: "EmptyCompletion" }) })
      assert.strictEqual((yield* Effect.flip(empty.work.run(none))).reason._tag, "EmptyCompletion")
      assert.deepStrictEqual(yield* empty.money, { posted: BALANCE, held: 0n })
      const bug = () => Effect.die(new Error("a bug"))
      for (const more of [{ deliver: bug }, { used: () => 1.5 }]) {
        const broken = yield* scene([searching()])
        const request = broken.search({ ...charged, ...more })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(broken.work.run(request))))
        assert.deepInclude(yield* broken.row(request.requestId), { status: "failed", refunded: 3n * perQuery })
        assert.deepStrictEqual(yield* broken.money, { posted: BALANCE, held: 0n })
      }
    }).pipe(Effect.scoped)
  )

  it.live("continues after the client disconnects, is charged, and can be replayed", () =>
    Effect.gen(function* () {
      const { answer, called, provider } = yield* waiting(true)
      const { ended, hold, money, price, rerank, work } = yield* scene([provider])
      const request = rerank({ charge: true, claim: claimOf("f") })
      const fiber = yield* Effect.forkChild(work.run(request))
      yield* Deferred.await(called)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.succeed(answer, ranked)
      const cost = tokenCost(price, { ...noTokens, input: 400 })
      assert.deepInclude(yield* ended(request.requestId), { status: "succeeded", refunded: hold - cost })
      assert.deepStrictEqual(yield* money, { posted: BALANCE - cost, held: 0n })
      const repeat = yield* work.run({ ...request, requestId: newRequestId() })
      assert.deepInclude(repeat, { replayed: true, value: ranked, cost })
    }).pipe(Effect.scoped)
  )

  it.live("is refunded once by the sweep when it is overdue, and a later result costs nothing", () =>
    Effect.gen(function* () {
      const { answer, called, provider } = yield* waiting(true)
      const { hold, ledger, money, price, rerank, row, sql, work } = yield* scene([provider])
      const request = rerank({ charge: true, claim: claimOf("f") })
      const fiber = yield* Effect.forkChild(work.run(request))
      yield* Deferred.await(called)
      yield* sql`UPDATE request SET expires_at = now() - interval '1 second' WHERE id = ${request.requestId}`
      assert.strictEqual(yield* ledger.refundOverdue, 1)
      assert.strictEqual(yield* ledger.refundOverdue, 0)
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
      // Whether a provider served it is unknown, so its key stays taken.
      const repeat = yield* Effect.flip(work.run({ ...request, requestId: newRequestId() }))
      assert.deepStrictEqual(repeat.reason, { _tag: "IdempotencyResultUnavailable", requestId: request.requestId })
      yield* Deferred.succeed(answer, ranked)
      assert.deepInclude(yield* Fiber.join(fiber), { cost: 0n, balanceWarning: undefined })
      const absorbed = tokenCost(price, { ...noTokens, input: 400 })
      assert.deepInclude(yield* row(request.requestId), { status: "failed", refunded: hold, absorbed })
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("has a fixed lifetime of its own", () =>
    Effect.gen(function* () {
      const { sql, ...scenery } = yield* scene([searching()], { chargeTtl: Duration.minutes(7) })
      const [held, sold] = [scenery.search(), scenery.search(charged)]
      yield* scenery.work.run(held)
      yield* scenery.work.run(sold)
      const minutes = (id: string) =>
        Effect.map(
          sql<{ minutes: number }>`SELECT (date_part('epoch', expires_at - created_at) / 60)::int AS minutes
            FROM request WHERE id = ${id}`,
          ([one]) => one?.minutes
        )
      assert.deepStrictEqual([yield* minutes(held.requestId), yield* minutes(sold.requestId)], [5, 7])
    }).pipe(Effect.scoped)
  )

  it.live("takes its charge out of the hold of the request that it is part of", () =>
    Effect.gen(function* () {
      const { ledger, money, search, work } = yield* scene([searching()], { balance: 4n * perQuery })
      const { model, principal } = search()
      const parent: HoldOperation = {
        _tag: "Hold",
        requestId: newRequestId(),
        accountId: principal.accountId,
        keyId: principal.keyId,
        projectId: null,
        operation: "batches",
        model,
        atLeast: 4n * perQuery,
        upTo: 4n * perQuery,
        ttlMs: 60_000,
        budgets: [],
        budgetsEpoch: 0,
        opened: {},
        claim: undefined,
        charge: false
      }
      yield* ledger.commit(parent)
      assert.strictEqual((yield* Effect.flip(work.run(search(charged)))).reason._tag, "InsufficientCredits")
      const part = yield* work.run(search({ ...charged, carvedFrom: parent.requestId }))
      assert.strictEqual(part.cost, perQuery)
      assert.deepStrictEqual(yield* money, { posted: 3n * perQuery, held: perQuery })
      const held = yield* work.run(search({ used: () => 1, carvedFrom: parent.requestId }))
      assert.strictEqual(held.cost, perQuery)
      assert.deepStrictEqual(yield* money, { posted: 2n * perQuery, held: 0n })
    }).pipe(Effect.scoped)
  )
})

describe("Work with a delivery step", () => {
  it.live("is answered and charged only after the delivery", () =>
    Effect.gen(function* () {
      const delivering = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const { row, search, work } = yield* scene([searching()])
      const kept: SearchResults = { results: [...found.results, ...found.results] }
      const request = search({
        ...charged,
        claim: claimOf("f"),
        deliver: () =>
          Effect.andThen(Deferred.succeed(delivering, undefined), Deferred.await(goOn)).pipe(Effect.as(kept))
      })
      const fiber = yield* Effect.forkChild(work.run(request))
      yield* Deferred.await(delivering)
      assert.strictEqual((yield* row(request.requestId)).status, "open")
      yield* Deferred.succeed(goOn, undefined)
      const answer = yield* Fiber.join(fiber)
      assert.deepInclude(answer, { value: kept, used: 2, cost: 2n * perQuery })
      assert.deepStrictEqual((yield* work.run({ ...request, requestId: newRequestId() })).value, kept)
    }).pipe(Effect.scoped)
  )

  for (const charge of [{}, { charge: true }] as const) {
    it.live(`costs nothing when the delivery fails, ${"charge" in charge ? "charged up front" : "held"}`, () =>
      Effect.gen(function* () {
        const { ended, money, perSearch, search, work } = yield* scene([searching()])
        const lost = failure({ _tag: "StoreUnavailable" }, "the disk is full")
        const request = search({ ...charge, claim: claimOf("f"), deliver: () => Effect.fail(lost) })
        assert.strictEqual(yield* Effect.flip(work.run(request)), lost)
        const { closed, provider, refunded, settled, status } = yield* ended(request.requestId)
        assert.deepStrictEqual(
          { cost: settled - refunded, provider, status },
          { cost: 0n, provider: "tavily", status: "failed" }
        )
        assert.deepInclude(closed as object, { basis: "none", error: { _tag: "StoreUnavailable" } })
        assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
        // The provider has searched, and bills the operator.
        const nano = Number(unitCost(perSearch, QUERIES))
        const place = { index: 0, provider: "tavily", model: "tavily-search" }
        assert.deepStrictEqual(closed?.attemptCosts, [{ ...place, nano }])
        assert.isUndefined(closed?.providerCost)
        // The key is free for another request.
        const { deliver: _deliver, ...again } = request
        assert.isFalse((yield* work.run({ ...again, requestId: newRequestId() })).replayed)
      }).pipe(Effect.scoped)
    )
  }

  it.live("costs nothing when the delivery times out", () =>
    Effect.gen(function* () {
      const { money, search, work } = yield* scene([searching()], { delivery: Duration.millis(50) })
      const stopped = yield* Deferred.make<void>()
      const deliver = () => Effect.onInterrupt(Effect.never, () => Deferred.succeed(stopped, undefined))
      const { reason } = yield* Effect.flip(work.run(search({ ...charged, deliver })))
      assert.deepStrictEqual(reason, { _tag: "StoreUnavailable" })
      yield* Deferred.await(stopped)
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("is delivered and settled although the client disconnects", () =>
    Effect.gen(function* () {
      const delivering = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const { ended, search, work } = yield* scene([searching()])
      const request = search({
        ...charged,
        deliver: (answer) =>
          Effect.andThen(Deferred.succeed(delivering, undefined), Deferred.await(goOn)).pipe(Effect.as(answer))
      })
      const fiber = yield* Effect.forkChild(work.run(request))
      yield* Deferred.await(delivering)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.succeed(goOn, undefined)
      assert.deepInclude(yield* ended(request.requestId), { status: "succeeded", refunded: 2n * perQuery })
    }).pipe(Effect.scoped)
  )
})

describe("Work with an answer that is still arriving", () => {
  for (const [part, tokens] of [
    [() => 7, 7],
    [undefined, 0]
  ] as const) {
    it.live(
      `is cut off when the service stops, and costs ${part ? "the price of the part delivered" : "nothing"}`,
      () =>
        Effect.gen(function* () {
          const delivering = yield* Deferred.make<void>()
          const options = { shutdownGrace: Duration.millis(50) }
          const { close, ended, price, rerank, work } = yield* scene([ranking()], options)
          const request = rerank({
            rest: () => ({ ended: Effect.never, ...(part === undefined ? {} : { part }) }),
            deliver: () => Effect.andThen(Deferred.succeed(delivering, undefined), Effect.never)
          })
          const fiber = yield* Effect.forkChild(work.run(request))
          yield* Deferred.await(delivering)
          const closing = yield* Effect.forkChild(close)
          assert.isTrue(Option.isSome(yield* Effect.timeoutOption(Fiber.join(closing), "5 seconds")))
          assert.isTrue(Exit.isFailure(yield* Fiber.await(fiber)))
          const settled = tokenCost(price, { ...noTokens, input: tokens })
          const { closed, ...row } = yield* ended(request.requestId)
          assert.deepInclude(row, { status: "cancelled", settled, provider: "voyage" })
          assert.deepInclude(closed as object, { usage: { ...noTokens, input: tokens }, error: null })
        }).pipe(Effect.scoped)
    )
  }
})

describe("Work whose hold expires while its answer is still arriving", () => {
  it.live("fails, is not charged, and delivers nothing more", () =>
    Effect.gen(function* () {
      const delivering = yield* Deferred.make<void>()
      const { ended, ledger, rerank, sql, work } = yield* scene([ranking()], { holdTtl: Duration.seconds(2) })
      const request = rerank({
        rest: () => ({ ended: Effect.never, part: () => 7 }),
        deliver: () => Effect.andThen(Deferred.succeed(delivering, undefined), Effect.never)
      })
      const fiber = yield* Effect.forkChild(Effect.flip(work.run(request)))
      yield* Deferred.await(delivering)
      // Another node expires the hold between two renewals.
      const overdue = sql`UPDATE request SET expires_at = now() - interval '1 second' WHERE id = ${request.requestId}`
      yield* Effect.repeat(Effect.andThen(overdue, ledger.expireOverdue), { until: (expired) => expired > 0 })
      const { reason } = yield* Fiber.join(fiber)
      assert.deepStrictEqual(reason, { _tag: "HoldExpired" })
      assert.deepInclude(yield* ended(request.requestId), { status: "failed", settled: 0n })
    }).pipe(Effect.scoped)
  )
})

describe("Work that needs a resource before the provider call", () => {
  it.live("acquires it after admission and the charge, and releases it after delivery", () =>
    Effect.gen(function* () {
      const steps: Array<string> = []
      const search = () => Effect.sync(() => (steps.push("called"), found))
      const { money, search: searches, work } = yield* scene([searching({ search })])
      const needed = Effect.acquireRelease(
        Effect.map(Effect.orDie(money), ({ posted }) =>
          steps.push(posted < BALANCE ? "acquired" : "acquired too early")
        ),
        () => Effect.sync(() => steps.push("released"))
      )
      const ask: WorkAttempt<SearchResults> = (one, call) => one.search?.(call, {} as never)
      const deliver = (answer: SearchResults) => Effect.sync(() => (steps.push("delivered"), answer))
      yield* work.run(searches({ ...charged, ask: Effect.as(needed, ask), deliver }))
      assert.deepStrictEqual(steps, ["acquired", "called", "delivered", "released"])
      const refused = searches({ ...charged, model: "no-such-model", ask: Effect.as(needed, ask) })
      assert.strictEqual((yield* Effect.flip(work.run(refused))).reason._tag, "UnknownModel")
      assert.lengthOf(steps, 4)
    }).pipe(Effect.scoped)
  )

  it.live("costs nothing and calls no provider when it cannot be acquired, and blames no provider", () =>
    Effect.gen(function* () {
      const notAsked = () => Effect.die(new Error("called"))
      const { ended, money, search, work } = yield* scene([searching({ search: notAsked })])
      const reason: Reason = { _tag: "ImageTooLarge", param: "image", limitBytes: 1 }
      const request = search({
        ...charged,
        ask: Effect.fail(new PoolError({ reason, attempts: [], failures: [] })),
        failed: () => ({ _tag: "SearchFailed" })
      })
      assert.deepStrictEqual((yield* Effect.flip(work.run(request))).reason, reason)
      const { closed, status } = yield* ended(request.requestId)
      assert.strictEqual(status, "failed")
      assert.deepInclude(closed as object, { basis: "none", error: reason })
      assert.deepStrictEqual(yield* money, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )
})
