import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Scope, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Auth } from "../../src/auth/Auth.ts"
import { Customers } from "../../src/billing/Customers.ts"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { everyProvider } from "../support/Providers.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import { emptyOutput, type Output, type OutputEvent } from "../../src/domain/Output.ts"
import { defaultPolicy } from "../../src/domain/Plan.ts"
import type { PromptUsage } from "../../src/domain/Usage.ts"
import { countPrompt } from "../../src/domain/Tokens.ts"
import { pulledSource } from "../../src/providers/wire/EventSource.ts"
import { Inference } from "../../src/inference/Inference.ts"
import type { ChatRequest } from "../../src/inference/Request.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { PromptImages } from "../../src/inference/PromptImages.ts"
import { PublicFetch } from "../../src/platform/outbound/PublicFetch.ts"
import type { Provider } from "../../src/providers/Provider.ts"
import { ProviderError } from "../../src/providers/ProviderError.ts"
import type { StreamItem } from "../../src/domain/Answer.ts"
import { ProviderPool } from "../../src/providers/pool/ProviderPool.ts"
import { Router } from "../../src/router/Router.ts"
import { Requests } from "../../src/usage/Requests.ts"
import { asked } from "../support/Conversations.ts"
import { layer as database } from "../support/Database.ts"
import { itemsOf } from "../support/Streams.ts"
import { withFacts } from "../support/Facts.ts"
import { seals } from "../support/Seals.ts"

const BALANCE = 1_000_000_000n
const usage = { input: 10, cached: 0, cacheWrite: 0, output: 20, reasoning: 0 }
const output: Output = { ...emptyOutput, text: "done", finish: "stop", usage }

/** A provider whose answers wait for the test, and which reports when its call is interrupted. */
const makeProvider = (stopsBillingOnAbort: boolean) =>
  Effect.gen(function* () {
    const called = yield* Deferred.make<void>()
    const answer = yield* Deferred.make<Output>()
    const events = yield* Deferred.make<ReadonlyArray<OutputEvent>>()
    const disconnected = yield* Deferred.make<void>()
    const pieces: Array<Effect.Effect<ReadonlyArray<OutputEvent> | undefined>> = [
      Effect.succeed([{ _tag: "Text", text: "first " }]),
      Deferred.await(events),
      Effect.succeed(undefined)
    ]
    const source = pulledSource(Effect.suspend(() => pieces.shift() ?? Effect.succeed(undefined)))
    const note = Effect.onInterrupt(() => Deferred.succeed(disconnected, undefined))
    const provider: Provider = {
      id: "openai",
      stopsBillingOnAbort,
      chat: () => Effect.andThen(Deferred.succeed(called, undefined), Deferred.await(answer)).pipe(note),
      chatStream: () =>
        Effect.as(
          Effect.addFinalizer((exit) =>
            Exit.isFailure(exit) ? Deferred.succeed(disconnected, undefined) : Effect.void
          ),
          source
        )
    }
    return { provider, called, answer, events, disconnected }
  })

/** A provider that streams these pieces, then falls silent. */
const silentAfter = (provider: Provider, pieces: ReadonlyArray<ReadonlyArray<OutputEvent>>): Provider => {
  const left = [...pieces]
  const next = Effect.suspend(() => {
    const piece = left.shift()
    return piece === undefined ? Effect.never : Effect.succeed(piece)
  })
  return { ...provider, chatStream: () => Effect.succeed(pulledSource(next)) }
}

const scene = (provider: Provider, drain: Duration.Duration = Duration.minutes(1), posted = BALANCE) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const pool = ProviderPool.layerFrom({
      providers: [provider],
      clocks: { connectMs: 60_000, firstTokenMs: 60_000, idleMs: 60_000, totalMs: 60_000 },
      observe: () => undefined
    })
    const options = { holdTtl: Duration.minutes(5), drain, shutdownGrace: Duration.seconds(20) }
    const rooms = Inference.layerFrom(options).pipe(
      Layer.provide(seals),
      Layer.provideMerge(
        Layer.mergeAll(
          pool,
          Router.layer,
          Requests.layer,
          PromptImages.layer.pipe(Layer.provide(PublicFetch.layerFrom({ allowLoopback: false })))
        )
      ),
      Layer.provideMerge(
        Layer.mergeAll(Catalogue.layerFrom({ sandbox: true, keyed: everyProvider, hosts: [] }), LiveFigures.layer)
      ),
      Layer.provideMerge(Layer.mergeAll(Auth.layer, Customers.layer)),
      Layer.provideMerge(Layer.mergeAll(Ledger.layer, Accounts.layer, Keys.layer)),
      Layer.provideMerge(Audit.layer)
    )
    const stores = yield* Layer.build(database)
    const context = yield* Layer.buildWithScope(rooms.pipe(Layer.provide(Layer.succeedContext(stores))), scope)
    return yield* Effect.gen(function* () {
      const auth = yield* Auth
      const ledger = yield* Ledger
      const requests = yield* Requests
      const { account, inferenceKey } = yield* (yield* Customers).open("flow@example.com", posted, {
        type: "operator",
        id: "t"
      })
      const principal = yield* auth.authenticate(`Bearer ${inferenceKey}`, "inference")
      const request: ChatRequest = {
        requestId: newRequestId(),
        operation: "chat.completions",
        principal,
        model: "gpt-4o-mini",
        chain: ["gpt-4o-mini"],
        policy: { ...defaultPolicy, only: ["openai"] },
        conversation: asked("Hello", { maxOutputTokens: 100 }),
        parameters: [],
        stream: false,
        budgetCents: undefined,
        claim: undefined,
        steering: undefined,
        arrivedAt: performance.now()
      }
      const row = Effect.map(requests.find(account.id, request.requestId), (found) => withFacts(found!))
      const ended: Effect.Effect<Effect.Success<typeof row>, Effect.Error<typeof row>> = Effect.flatMap(row, (found) =>
        found.status === "open" ? ended : Effect.succeed(found)
      )
      const balance = Effect.map(ledger.balance(account.id), (found) => found!)
      const sql = Context.get(stores, SqlClient.SqlClient)
      const progress: Effect.Effect<number, unknown> = Effect.flatMap(
        sql<{ readonly progress: string }>`SELECT progress FROM request WHERE id = ${request.requestId}`,
        ([found]) => (Number(found?.progress) === 0 ? progress : Effect.succeed(Number(found?.progress)))
      )
      const close = Scope.close(scope, Exit.void)
      return { inference: yield* Inference, request, row, ended, balance, progress, close }
    }).pipe(Effect.provide(context))
  })

const textOf = (items: ReadonlyArray<StreamItem>): string =>
  items
    .flatMap((item) => (item._tag === "Events" ? item.events : []))
    .map((event) => (event._tag === "Text" ? event.text : ""))
    .join("")

const endOf = (item: StreamItem | undefined) =>
  item?._tag === "End" ? { finish: item.answer.output.finish, usage: item.answer.usage } : undefined

describe("Inference", () => {
  it.live("drains and settles an answer when disconnecting does not stop the bill", () =>
    Effect.gen(function* () {
      const { answer, called, provider } = yield* makeProvider(false)
      const { balance, ended, inference, request, row } = yield* scene(provider)
      const fiber = yield* Effect.forkChild(inference.chat(request))
      yield* Deferred.await(called)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* row).status, "open")
      yield* Deferred.succeed(answer, output)
      const { settled, status } = yield* ended
      assert.strictEqual(status, "succeeded")
      assert.isTrue(settled > 0n)
      assert.deepStrictEqual(yield* balance, { posted: BALANCE - settled, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("ends a drain at its time limit, and charges nothing without output", () =>
    Effect.gen(function* () {
      const { called, disconnected, provider } = yield* makeProvider(false)
      const { balance, ended, inference, request } = yield* scene(provider, Duration.zero)
      const fiber = yield* Effect.forkChild(inference.chat(request))
      yield* Deferred.await(called)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(disconnected)
      assert.deepInclude(yield* ended, { status: "cancelled", settled: 0n })
      assert.deepStrictEqual(yield* balance, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("stops the provider at once when that stops the bill", () =>
    Effect.gen(function* () {
      const { called, disconnected, provider } = yield* makeProvider(true)
      const { ended, inference, request } = yield* scene(provider)
      const fiber = yield* Effect.forkChild(inference.chat(request))
      yield* Deferred.await(called)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(disconnected)
      assert.deepInclude(yield* ended, { status: "cancelled", settled: 0n })
    }).pipe(Effect.scoped)
  )

  it.live.each([false, true])("lists the attempts made before the client disconnected, streamed: %s", (stream) =>
    Effect.gen(function* () {
      const called = yield* Deferred.make<void>()
      let calls = 0
      const ask = Effect.suspend(() => {
        calls += 1
        const fault = { _tag: "ServerError", status: 500, detail: "broken" } as const
        return calls === 1
          ? Effect.fail(new ProviderError({ provider: "openai", fault }))
          : Effect.andThen(Deferred.succeed(called, undefined), Effect.never)
      })
      const provider: Provider = { id: "openai", stopsBillingOnAbort: true, chat: () => ask, chatStream: () => ask }
      const { ended, inference, request } = yield* scene(provider)
      const chained = { ...request, chain: ["gpt-4o-mini", "gpt-4o"], stream }
      const fiber = yield* Effect.forkChild(stream ? inference.chatStream(chained) : inference.chat(chained))
      yield* Deferred.await(called)
      yield* Fiber.interrupt(fiber)
      const { closed, status } = yield* ended
      assert.strictEqual(status, "cancelled")
      assert.deepStrictEqual(closed?.routing?.provider_attempts, [
        { provider: "openai", outcome: "failed_over", attempt_index: 0 },
        { provider: "openai", outcome: "failed", attempt_index: 1 }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("makes no further attempt for a disconnected client when the drained answer fails", () =>
    Effect.gen(function* () {
      const { called, provider } = yield* makeProvider(false)
      const failed = yield* Deferred.make<never, ProviderError>()
      let calls = 0
      const failing: Provider = {
        ...provider,
        chat: () =>
          Effect.suspend(() => {
            calls += 1
            return calls === 1
              ? Effect.andThen(Deferred.succeed(called, undefined), Deferred.await(failed))
              : Effect.succeed(output)
          })
      }
      const { balance, ended, inference, request } = yield* scene(failing)
      const fiber = yield* Effect.forkChild(inference.chat(request))
      yield* Deferred.await(called)
      yield* Fiber.interrupt(fiber)
      const fault = { _tag: "Unreachable", detail: "reset" } as const
      yield* Deferred.fail(failed, new ProviderError({ provider: "openai", fault }))
      assert.deepInclude(yield* ended, { status: "cancelled", settled: 0n })
      assert.strictEqual(calls, 1)
      assert.deepStrictEqual(yield* balance, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("drains a stream after a disconnect, and settles the reported usage", () =>
    Effect.gen(function* () {
      const { events, provider } = yield* makeProvider(false)
      const { ended, inference, request } = yield* scene(provider)
      const stream = yield* inference.chatStream({ ...request, stream: true })
      assert.isFalse(stream.replayed)
      yield* Stream.runHead(itemsOf(stream))
      yield* Deferred.succeed(events, [
        { _tag: "Text", text: "second" },
        { _tag: "Finish", reason: "stop" },
        { _tag: "Usage", usage }
      ])
      const { closed, settled } = yield* ended
      assert.deepInclude(closed as object, { basis: "reported", usage })
      assert.isTrue(settled > 0n)
    }).pipe(Effect.scoped)
  )

  it.live("finishes and settles running requests when the service stops", () =>
    Effect.gen(function* () {
      const { answer, called, provider } = yield* makeProvider(true)
      const { close, inference, request } = yield* scene(provider)
      const fiber = yield* Effect.forkChild(inference.chat(request))
      yield* Deferred.await(called)
      const closing = yield* Effect.forkChild(close)
      yield* Deferred.succeed(answer, output)
      assert.strictEqual((yield* Fiber.join(fiber)).answer.output.text, "done")
      yield* Fiber.join(closing)
    }).pipe(Effect.scoped)
  )

  it.live("releases the hold after a defect", () =>
    Effect.gen(function* () {
      const { provider } = yield* makeProvider(true)
      const broken = {
        ...provider,
        chat: () => Effect.die(new Error("a bug")),
        chatStream: () => Effect.die(new Error("a bug"))
      }
      const { balance, inference, request } = yield* scene(broken)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(inference.chat(request))))
      const streamed = { ...request, requestId: newRequestId(), stream: true }
      assert.isTrue(Exit.isFailure(yield* Effect.exit(inference.chatStream(streamed))))
      assert.deepStrictEqual(yield* balance, { posted: BALANCE, held: 0n })
      const wrong = yield* makeProvider(true)
      const second = yield* scene(wrong.provider)
      yield* Deferred.succeed(wrong.answer, { ...output, usage: { ...usage, output: 1.5 } })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(second.inference.chat(second.request))))
      assert.deepStrictEqual(yield* second.balance, { posted: BALANCE, held: 0n })
    }).pipe(Effect.scoped)
  )

  it.live("covers a chunk of any size by the hold before sending it, and reports the provider's finish reason", () =>
    Effect.gen(function* () {
      const { events, provider } = yield* makeProvider(true)
      const { ended, inference, request } = yield* scene(provider)
      const conversation = { ...request.conversation, maxOutputTokens: undefined }
      const stream = yield* inference.chatStream({ ...request, conversation, stream: true })
      const reading = yield* Effect.forkChild(Stream.runCollect(itemsOf(stream)))
      const text = "one more word ".repeat(4_000)
      yield* Deferred.succeed(events, [
        { _tag: "Text", text },
        { _tag: "Finish", reason: "stop" },
        { _tag: "Usage", usage: { ...usage, output: 12_003 } }
      ])
      const items = yield* Fiber.join(reading)
      const last = items.at(-1)
      assert.strictEqual(last?._tag === "End" ? last.answer.output.finish : undefined, "stop")
      const { absorbed, settled } = yield* ended
      assert.strictEqual(absorbed, 0n)
      assert.isTrue(settled > 7_000_000n)
    }).pipe(Effect.scoped)
  )

  it.live("charges and stores only the output sent before the balance ran out", () =>
    Effect.gen(function* () {
      const { events, provider } = yield* makeProvider(true)
      // In nano-USD a prompt token costs 150 and an output token 600: the balance covers the floor of 256 tokens and a few more.
      const { ended, inference, request } = yield* scene(provider, Duration.minutes(1), 165_000n)
      const conversation = { ...request.conversation, maxOutputTokens: undefined }
      const claim = { idempotencyKey: "k", claim: "POST /x k", fingerprint: "f" }
      const asked = { ...request, conversation, stream: true, claim }
      const stream = yield* inference.chatStream(asked)
      const reading = yield* Effect.forkChild(Stream.runCollect(itemsOf(stream)))
      yield* Deferred.succeed(events, [
        { _tag: "Text", text: "one more word ".repeat(700) },
        { _tag: "Finish", reason: "stop" },
        { _tag: "Usage", usage: { ...usage, cached: 4, output: 2_103 } }
      ])
      const items = yield* Fiber.join(reading)
      const first = items.at(-1)
      const of = { input: 10, cached: 4, cacheWrite: 0, output: 2, reasoning: 0 }
      assert.deepStrictEqual([textOf(items), endOf(first)], ["first ", { finish: "length", usage: of }])
      const { closed, settled } = yield* ended
      assert.deepInclude(closed as object, { basis: "counted", usage: of })
      assert.strictEqual(settled, 10n * 150n + 4n * 75n + 2n * 600n)
      const again = yield* inference.chatStream({ ...asked, requestId: newRequestId() })
      const repeated = yield* Stream.runCollect(itemsOf(again))
      assert.isTrue(again.replayed)
      assert.deepStrictEqual([textOf(repeated), endOf(repeated.at(-1))], ["first ", { finish: "length", usage: of }])
    }).pipe(Effect.scoped)
  )

  const claude = { model: "claude-sonnet-4-5", chain: ["claude-sonnet-4-5"] }
  const longPrompt = "word ".repeat(30_000)
  const counted = { input: countPrompt(asked(longPrompt)), cached: 0, cacheWrite: 0 }
  const prompts: ReadonlyArray<readonly [string, PromptUsage | undefined, PromptUsage]> = [
    [
      "the prompt usage that its provider reported at the start",
      { input: 9, cached: 30_000, cacheWrite: 5 },
      { input: 9, cached: 30_000, cacheWrite: 5 }
    ],
    ["the gateway's count when the provider reported zero", { input: 0, cached: 0, cacheWrite: 0 }, counted],
    ["the gateway's count when the provider reported nothing", undefined, counted]
  ]
  for (const [name, said, charged] of prompts) {
    it.live(`charges the prompt of a disconnected client by ${name}`, () =>
      Effect.gen(function* () {
        const { provider } = yield* makeProvider(true)
        const events: ReadonlyArray<OutputEvent> = [{ _tag: "Text", text: "Once upon a time" }]
        const all = said === undefined ? events : [{ _tag: "PromptUsage", usage: said } as const, ...events]
        const { ended, inference, request } = yield* scene(
          silentAfter({ ...provider, id: "anthropic" }, [all]),
          Duration.millis(200)
        )
        const conversation = asked(longPrompt, { maxOutputTokens: 1_000 })
        const policy = { ...defaultPolicy, only: ["anthropic"] }
        const stream = yield* inference.chatStream({ ...request, ...claude, policy, conversation, stream: true })
        yield* Stream.runHead(itemsOf(stream))
        const { closed, settled, status } = yield* ended
        assert.strictEqual(status, "cancelled")
        assert.deepInclude(closed as object, { basis: "counted", usage: { ...charged, output: 4, reasoning: 0 } })
        // In nano-USD a plain prompt token costs 3,000, a cache read 300, a cache write 3,750, and an output token 15,000.
        const prompt = charged.input * 3_000 + charged.cached * 300 + charged.cacheWrite * 3_750
        assert.strictEqual(Number(settled), prompt + 4 * 15_000)
      }).pipe(Effect.scoped)
    )
  }

  it.live("records the provider's prompt usage in the progress of a rolling hold", () =>
    Effect.gen(function* () {
      const { provider } = yield* makeProvider(true)
      const pieces: ReadonlyArray<ReadonlyArray<OutputEvent>> = [
        [{ _tag: "PromptUsage", usage: { input: 10, cached: 30_000, cacheWrite: 0 } }],
        [{ _tag: "Text", text: "Once " }],
        [{ _tag: "Text", text: "one more word ".repeat(1_000) }]
      ]
      const { ended, inference, progress, request } = yield* scene(silentAfter(provider, pieces), Duration.millis(200))
      const conversation = asked(longPrompt, { maxOutputTokens: undefined })
      const stream = yield* inference.chatStream({ ...request, conversation, stream: true })
      const reading = yield* Effect.forkChild(Stream.runDrain(itemsOf(stream)))
      const written = yield* Effect.timeout(progress, "10 seconds")
      yield* Fiber.interrupt(reading)
      yield* ended
      // In nano-USD the prompt costs 2,250,000 as reported and 4,500,000 by the gateway's count; the output so far costs 1,800,000.
      assert.isAtLeast(written, 2_250_000)
      assert.isBelow(written, 4_400_000)
    }).pipe(Effect.scoped)
  )

  it.live("stores no provider message under zero retention, not even for a replay", () =>
    Effect.gen(function* () {
      const { provider } = yield* makeProvider(true)
      const fault = { _tag: "Refused", status: 400, detail: "cannot take SECRET-PROMPT" } as const
      const refused = Effect.fail(new ProviderError({ provider: "openai", fault }))
      const refusing: Provider = { ...provider, id: "vertex", chat: () => refused, chatStream: () => refused }
      const { ended, inference, request } = yield* scene(refusing)
      const claim = { idempotencyKey: "k", claim: "POST /x k", fingerprint: "f" }
      const policy = { ...defaultPolicy, only: ["vertex"], dataPolicy: "zero_retention" } as const
      const silent = { ...request, model: "gemini-2.5-flash", chain: ["gemini-2.5-flash"], policy, claim }
      const first = yield* Effect.flip(inference.chat(silent))
      assert.strictEqual(first.reason._tag, "ProviderRefused")
      assert.notInclude(JSON.stringify((yield* ended).closed), "SECRET")
      const again = yield* Effect.flip(inference.chat({ ...silent, requestId: newRequestId() }))
      assert.strictEqual(again.reason._tag, "IdempotencyResultUnavailable")
    }).pipe(Effect.scoped)
  )
})
