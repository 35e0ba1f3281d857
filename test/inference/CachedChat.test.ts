import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { ChatCache } from "../../src/cache/ChatCache.ts"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { everyProvider } from "../support/Providers.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import type { ToolCall } from "../../src/domain/Conversation.ts"
import { failure } from "../../src/domain/Failure.ts"
import { fixedBound } from "../../src/domain/TokenBound.ts"
import { defaultPolicy } from "../../src/domain/Plan.ts"
import { noTokens } from "../../src/domain/Usage.ts"
import type { Answer } from "../../src/domain/Answer.ts"
import { CachedChat, type CacheOptions } from "../../src/inference/CachedChat.ts"
import { Inference } from "../../src/inference/Inference.ts"
import type { ChatRequest } from "../../src/inference/Request.ts"
import { plainAuto } from "../../src/router/AutoRouter.ts"
import { type AutoOptions, defaultAutoOptions } from "../../src/domain/Auto.ts"
import { Router } from "../../src/router/Router.ts"
import { Requests } from "../../src/usage/Requests.ts"
import { answerWith } from "../dialects/chat/answer.ts"
import { asked } from "../support/Conversations.ts"

const request: ChatRequest = {
  requestId: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  operation: "chat",
  principal: {
    keyId: "k",
    accountId: "a",
    projectId: null,
    kind: "inference",
    scopes: [],
    limitScale: 1,
    budgets: [],
    budgetsEpoch: 0
  },
  model: "gpt-4o",
  chain: ["gpt-4o"],
  policy: defaultPolicy,
  conversation: asked("Hello"),
  parameters: [],
  stream: false,
  budgetCents: undefined,
  claim: undefined,
  steering: undefined,
  arrivedAt: 0
}

const options: CacheOptions = { use: true, lifeSeconds: 300 }

/** The cache with real plans, over an inference that returns this answer for free. */
const scene = (
  answer: Answer = answerWith({ text: "hi", finish: "stop" }),
  replayed = false,
  cache: Layer.Layer<ChatCache> = ChatCache.layerMemory()
) =>
  Effect.gen(function* () {
    const seen = { paid: 0, checked: 0 }
    const claims = new Set<string>()
    const inference = Layer.effect(
      Inference,
      Effect.map(Router, (router) =>
        Inference.of({
          prepare: ({ auto, chain, policy }) =>
            Result.map(
              router.plan({
                models: chain,
                auto: { ...plainAuto, options: auto?.options ?? defaultAutoOptions },
                policy,
                needs: { vision: false, tools: false, parameters: [] },
                stream: false,
                promptBound: 10,
                fits: () => true,
                promptTokens: () => 1
              }),
              (plan) => ({
                plan,
                estimate: {
                  atLeast: 1n,
                  upTo: 1n,
                  ceiling: 1n,
                  prompt: fixedBound(10),
                  rolling: false,
                  maxTokens: undefined
                }
              })
            ),
          chat: () =>
            Effect.sync(() => {
              seen.paid++
              return { answer, replayed }
            }),
          chatStream: () => Effect.fail(failure({ _tag: "InternalError" }))
        })
      )
    )
    const requests = Layer.succeed(Requests, {
      find: () => Effect.undefined,
      claims: () => Effect.succeed([]),
      claimOf: () => Effect.undefined,
      findReplayed: () => Effect.undefined,
      noteReplay: () => Effect.void,
      dropReplays: () => Effect.succeed(0),
      claimedBy: (accountId, claim) => Effect.succeed(claims.has(`${accountId} ${claim}`) ? "req_before" : undefined)
    })
    const context = yield* Layer.build(
      CachedChat.layer.pipe(
        Layer.provide(Layer.mergeAll(inference, requests, cache)),
        Layer.provide(Router.layer),
        Layer.provide(Catalogue.layerFrom({ sandbox: true, keyed: everyProvider, hosts: [] })),
        Layer.provide(LiveFigures.layerMemory)
      )
    )
    const cached = yield* Effect.provide(CachedChat, context)
    const check = (principal: ChatRequest["principal"]) =>
      Effect.sync(() => {
        seen.checked++
        return principal
      })
    return {
      seen,
      claims,
      ask: (
        more: Partial<ChatRequest> = {},
        how: Partial<CacheOptions> = {},
        now: Partial<ChatRequest["principal"]> = {}
      ) => {
        const one = { ...request, ...more }
        return cached.chat(one, { ...options, ...how }, check({ ...one.principal, ...now }))
      },
      refused: cached.chat(request, options, Effect.fail(failure({ _tag: "InvalidApiKey" })))
    }
  })

type Scene = Effect.Success<ReturnType<typeof scene>>

const statuses = (ask: Scene["ask"], ...all: ReadonlyArray<Partial<ChatRequest>>) =>
  Effect.forEach(all, (more) => Effect.map(ask(more), ({ status }) => status))

const project = (projectId: string | null) => ({ principal: { ...request.principal, projectId } })

describe("CachedChat", () => {
  it.effect("returns a cached answer with a new request id, for free", () =>
    Effect.gen(function* () {
      const { ask, seen } = yield* scene(
        answerWith({ text: "hi", finish: "stop" }, { balanceWarning: "Your balance is low" })
      )
      const first = yield* ask()
      assert.deepStrictEqual([first.status, first.answer.cost], ["MISS", 1_234_567n])
      const { answer, replayed, status } = yield* ask({ requestId: "req_other", model: " gpt-4o" })
      assert.deepStrictEqual([status, replayed], ["HIT", false])
      const { provider_attempts: _, ...routing } = first.answer.routing
      assert.deepInclude(answer, {
        requestId: "req_other",
        model: " gpt-4o",
        resolvedModel: "gpt-4o",
        provider: "openai",
        routing,
        usage: noTokens,
        cost: 0n,
        balanceWarning: undefined
      })
      assert.strictEqual(answer.output.text, "hi")
      assert.deepStrictEqual(seen, { paid: 1, checked: 2 })
    })
  )

  it.effect("drops an answer after its lifetime", () =>
    Effect.gen(function* () {
      const { ask } = yield* scene()
      yield* ask()
      yield* TestClock.adjust("299 seconds")
      assert.deepStrictEqual(yield* statuses(ask, {}), ["HIT"])
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* ask({}, { lifeSeconds: 10 })).status, "MISS")
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* statuses(ask, {}), ["MISS"])
    })
  )

  it.effect("never crosses accounts or projects", () =>
    Effect.gen(function* () {
      const { ask } = yield* scene()
      const other = { principal: { ...request.principal, accountId: "b" } }
      const all = [{}, other, project("p"), project("q")]
      assert.deepStrictEqual(yield* statuses(ask, ...all), ["MISS", "MISS", "MISS", "MISS"])
      assert.deepStrictEqual(yield* statuses(ask, ...all), ["HIT", "HIT", "HIT", "HIT"])
    })
  )

  it.effect("distinguishes requests by every field that changes the answer, and by no other", () =>
    Effect.gen(function* () {
      const { ask } = yield* scene()
      yield* ask()
      const same: ReadonlyArray<Partial<ChatRequest>> = [
        { budgetCents: 5 },
        { parameters: [] },
        { policy: { ...defaultPolicy, source: "request", timeouts: { totalMs: 5 } } }
      ]
      for (const more of same) assert.strictEqual((yield* ask(more)).status, "HIT", Object.keys(more).join())
      const others: ReadonlyArray<Partial<ChatRequest>> = [
        { conversation: asked("Hello", { sampling: { temperature: 0 } }) },
        { conversation: asked("hello") },
        { chain: ["gpt-4o", "gpt-4o-mini"] },
        { policy: { ...defaultPolicy, dataPolicy: "no_training" } },
        { policy: { ...defaultPolicy, ignore: ["nobody"] } },
        { steering: "text=x" }
      ]
      for (const more of others) assert.strictEqual((yield* ask(more)).status, "MISS", JSON.stringify(more))
    })
  )

  it.effect("reports the routing of the request on a hit", () =>
    Effect.gen(function* () {
      const { ask } = yield* scene()
      assert.strictEqual((yield* ask()).answer.routing.source, "default")
      const asked = yield* ask({ policy: { ...defaultPolicy, source: "request" } })
      assert.deepStrictEqual([asked.status, asked.answer.routing.source], ["HIT", "request"])
      assert.isUndefined(asked.answer.routing.router)

      const auto = (options: Partial<AutoOptions>, sessionId?: string) => ({
        chain: ["svc/auto"],
        auto: { options: { ...defaultAutoOptions, allowedModels: ["gpt-4o"], ...options }, sessionId }
      })
      assert.deepStrictEqual(
        yield* statuses(ask, auto({}), auto({ costTier: "low" }), auto({ excludedModels: ["gpt-4o-mini"] })),
        ["MISS", "MISS", "MISS"]
      )
      const hit = yield* ask(auto({}))
      assert.deepStrictEqual([hit.status, hit.answer.routing.router?.candidates], ["HIT", ["gpt-4o"]])
      const { answer, status } = yield* ask({ auto: auto({ costTier: "max" }).auto })
      assert.deepStrictEqual([status, answer.routing.router], ["HIT", undefined])
    })
  )

  it.effect("neither reads nor writes the cache when the request or its policy forbids it", () =>
    Effect.gen(function* () {
      const { ask, seen } = yield* scene()
      const tools = [{ name: "look", description: undefined, parameters: undefined, strict: undefined }]
      const silent = {
        chain: ["claude-sonnet-4-5"],
        policy: { ...defaultPolicy, dataPolicy: "zero_retention" as const }
      }
      for (const more of [silent, { conversation: asked("Hello", { tools }) }]) {
        assert.deepStrictEqual(yield* statuses(ask, more, more), ["BYPASS", "BYPASS"])
      }
      assert.strictEqual((yield* ask({}, { use: false })).status, "BYPASS")
      assert.deepStrictEqual(yield* statuses(ask, {}, {}), ["MISS", "HIT"])
      assert.strictEqual((yield* ask({}, { use: false })).status, "BYPASS")
      assert.deepStrictEqual(seen, { paid: 7, checked: 2 })
    })
  )

  const call: ToolCall = { id: "c", name: "look", arguments: "{}" }
  const unfit: Readonly<Record<string, Answer>> = {
    "a truncated answer": answerWith({ text: "h", finish: "length" }),
    "a filtered answer": answerWith({ text: "h", finish: "content_filter" }),
    "an answer without a finish reason": answerWith({ text: "h" }),
    "an answer with tool calls": answerWith({ toolCalls: [call], finish: "stop" }),
    "an answer from another model": answerWith({ text: "h", finish: "stop" }, { resolvedModel: "gpt-4o-mini" })
  }
  for (const [name, answer] of Object.entries(unfit)) {
    it.effect(`does not cache ${name}`, () =>
      Effect.gen(function* () {
        const { ask } = yield* scene(answer)
        assert.deepStrictEqual(yield* statuses(ask, {}, {}), ["MISS", "MISS"])
      })
    )
  }

  it.effect("caches an answer that the caller's own output limit truncated", () =>
    Effect.gen(function* () {
      const { ask } = yield* scene(unfit["a truncated answer"])
      const capped = { conversation: asked("Hello", { maxOutputTokens: 1 }) }
      assert.deepStrictEqual(yield* statuses(ask, capped, capped), ["MISS", "HIT"])
    })
  )

  it.effect("returns nothing to a key that fails its check, and calls no provider", () =>
    Effect.gen(function* () {
      const { ask, refused, seen } = yield* scene()
      yield* ask()
      const { reason } = yield* Effect.flip(refused)
      assert.strictEqual(reason._tag, "InvalidApiKey")
      assert.strictEqual(seen.paid, 1)
    })
  )

  it.effect("returns no hit to a key whose project or routing has changed", () =>
    Effect.gen(function* () {
      const { ask } = yield* scene()
      yield* ask()
      for (const now of [{ projectId: "another" }, { routing: { data_policy: "zero_retention" } }] as const) {
        assert.strictEqual((yield* ask({}, {}, now)).status, "MISS")
      }
      assert.strictEqual((yield* ask()).status, "HIT")
    })
  )

  it.effect("does not delay answers for a slow store, and limits pending writes", () =>
    Effect.gen(function* () {
      const free = yield* Deferred.make<void>()
      let [begun, kept] = [0, 0]
      const put = () =>
        Effect.suspend(() => {
          begun++
          return Effect.asVoid(
            Effect.andThen(
              Deferred.await(free),
              Effect.sync(() => kept++)
            )
          )
        })
      const stalled = Layer.succeed(ChatCache, { get: () => Effect.undefined, put })
      const { ask } = yield* scene(undefined, false, stalled)
      const question = (count: number) => ask({ conversation: asked(`Question ${count}`) })
      for (let count = 0; count < 70; count++) assert.strictEqual((yield* question(count)).status, "MISS")
      assert.deepStrictEqual([begun, kept], [64, 0])
      yield* Deferred.succeed(free, undefined)
      yield* Effect.yieldNow
      assert.strictEqual(kept, 64)
      yield* ask()
      assert.strictEqual(begun, 65)
    })
  )

  it.effect("returns an answer that is still being written to the cache, unless that takes long", () =>
    Effect.gen(function* () {
      const memory = Context.get(yield* Layer.build(ChatCache.layerMemory()), ChatCache)
      const free = yield* Deferred.make<void>()
      const slow = Layer.succeed(ChatCache, {
        get: memory.get,
        put: (...kept) => Effect.andThen(Deferred.await(free), memory.put(...kept))
      })
      const { ask } = yield* scene(undefined, false, slow)
      yield* ask()
      const impatient = yield* Effect.forkChild(ask(), { startImmediately: true })
      yield* TestClock.adjust("250 millis")
      assert.strictEqual((yield* Fiber.join(impatient)).status, "MISS")
      const again = yield* Effect.forkChild(ask(), { startImmediately: true })
      yield* Deferred.succeed(free, undefined)
      assert.strictEqual((yield* Fiber.join(again)).status, "HIT")
    })
  )

  it.effect("prefers the stored answer of an idempotency key, and caches no replay", () =>
    Effect.gen(function* () {
      const claim = { idempotencyKey: "i", claim: "POST /chat i", fingerprint: "f" }
      const { ask, claims, seen } = yield* scene()
      yield* ask()
      assert.deepStrictEqual(yield* statuses(ask, { claim }), ["HIT"])
      claims.add("a POST /chat i")
      assert.deepStrictEqual(yield* statuses(ask, { claim }), ["MISS"])
      assert.strictEqual(seen.paid, 2)
      const replaying = yield* scene(undefined, true)
      assert.deepStrictEqual(yield* statuses(replaying.ask, {}, {}), ["BYPASS", "BYPASS"])
    })
  )

  it.effect("fails when no plan is possible, unless a stored answer may exist under the idempotency key", () =>
    Effect.gen(function* () {
      const { ask } = yield* scene()
      const { reason } = yield* Effect.flip(ask({ chain: ["no-such-model"] }))
      assert.strictEqual(reason._tag, "UnknownModel")
      // Inference looks up an answer stored under an idempotency key, even when its model no longer exists.
      const claim = { idempotencyKey: "k", claim: "POST /chat k", fingerprint: "f" }
      assert.strictEqual((yield* ask({ chain: ["no-such-model"], claim })).status, "BYPASS")
    })
  )
})
