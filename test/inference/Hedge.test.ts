/** Two hosts on real sockets, of which one keeps its caller waiting: tests which connection is dropped and what is charged. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Layer, Result, Stream } from "effect"
import type { ServerResponse } from "node:http"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Auth } from "../../src/auth/Auth.ts"
import { Customers } from "../../src/billing/Customers.ts"
import { type Candidate, defaultPolicy, type Plan } from "../../src/domain/Plan.ts"
import { tokenCost } from "../../src/domain/Pricing.ts"
import { countPrompt } from "../../src/domain/Tokens.ts"
import { noTokens } from "../../src/domain/Usage.ts"
import { Inference } from "../../src/inference/Inference.ts"
import type { ChatRequest } from "../../src/inference/Request.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { Outbound } from "../../src/platform/outbound/Outbound.ts"
import { PromptImages } from "../../src/inference/PromptImages.ts"
import { PublicFetch } from "../../src/platform/outbound/PublicFetch.ts"
import { makeOpenAi } from "../../src/providers/openai/OpenAi.ts"
import { ProviderPool } from "../../src/providers/pool/ProviderPool.ts"
import { Router } from "../../src/router/Router.ts"
import { Requests } from "../../src/usage/Requests.ts"
import { candidate, clocks, price } from "../providers/calls.ts"
import { upstream } from "../providers/upstream.ts"
import { asked } from "../support/Conversations.ts"
import { layer as database } from "../support/Database.ts"
import { itemsOf } from "../support/Streams.ts"
import { withFacts } from "../support/Facts.ts"
import { seals } from "../support/Seals.ts"

const BALANCE = 1_000_000_000n
const PROMPT_TOKENS = 5

const body = (completion: number, stream: boolean): string => {
  const usage = {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: completion,
    total_tokens: PROMPT_TOKENS + completion
  }
  const content = `${completion} tokens`
  if (!stream) return JSON.stringify({ choices: [{ index: 0, finish_reason: "stop", message: { content } }], usage })
  const delta = { choices: [{ index: 0, delta: { content }, finish_reason: "stop" }] }
  return [delta, { choices: [], usage }].map((one) => `data: ${JSON.stringify(one)}\n\n`).join("") + "data: [DONE]\n\n"
}

/** Starts a host that answers on request, with this many tokens, and reports when its connection is dropped before. */
const startHost = (completion: number) =>
  Effect.gen(function* () {
    const called = yield* Deferred.make<void>()
    const answer = yield* Deferred.make<void>()
    const dropped = yield* Deferred.make<void>()
    const respond = (response: ServerResponse, stream: boolean) => {
      response.writeHead(200, { "content-type": stream ? "text/event-stream" : "application/json" })
      response.end(body(completion, stream))
    }
    const { origin } = yield* upstream((request, response) => {
      let text = ""
      request.setEncoding("utf8").on("data", (more) => (text += more))
      response.once("close", () => {
        if (!response.writableFinished) Deferred.doneUnsafe(dropped, Exit.void)
      })
      request.once("end", () => {
        Deferred.doneUnsafe(called, Exit.void)
        Effect.runFork(Effect.map(Deferred.await(answer), () => respond(response, text.includes(`"stream":true`))))
      })
    })
    return { called, dropped, origin, answer: Deferred.succeed(answer, undefined) }
  })

/** A candidate that costs the operator as much as the account. */
const costed = (id: string): Candidate => {
  const one = candidate(id)
  return { ...one, offer: { ...one.offer, cost: price } }
}

/** Prepares a paid request to `a`, hedged by `b` after 5 milliseconds, with its receipt and its balance. */
const scene = Effect.fnUntraced(function* (origins: { readonly a: string; readonly b: string }) {
  const provider = (id: "a" | "b") =>
    makeOpenAi({
      id,
      baseUrl: `${origins[id]}/v1`,
      apiKey: undefined,
      flavour: "compatible",
      stopsBillingOnAbort: true
    })
  const pool = Layer.unwrap(
    Effect.map(Effect.all([provider("a"), provider("b")]), (providers) =>
      ProviderPool.layerFrom({ providers, clocks, observe: () => undefined })
    )
  )
  const plan: Plan = {
    requestedModels: ["model-1"],
    policy: { ...defaultPolicy, strategy: "latency" },
    candidates: [costed("a"), costed("b")],
    hedgeAfterMs: 5
  }
  const router = Layer.succeed(
    Router,
    Router.of({ plan: () => Result.succeed(plan), planWork: () => Result.succeed(plan) })
  )
  const options = { holdTtl: Duration.minutes(5), drain: Duration.minutes(1), shutdownGrace: Duration.seconds(20) }
  const rooms = Inference.layerFrom(options).pipe(
    Layer.provide(seals),
    Layer.provideMerge(Layer.mergeAll(pool.pipe(Layer.provide(Outbound.layer)), router, Requests.layer)),
    Layer.provideMerge(PromptImages.layer.pipe(Layer.provide(PublicFetch.layerFrom({ allowLoopback: false })))),
    Layer.provideMerge(Layer.mergeAll(Auth.layer, Customers.layer)),
    Layer.provideMerge(Layer.mergeAll(Ledger.layer, Accounts.layer, Keys.layer)),
    Layer.provideMerge(Audit.layer),
    Layer.provide(database)
  )
  const context = yield* Layer.build(rooms)
  return yield* Effect.gen(function* () {
    const [auth, inference, ledger, requests] = [yield* Auth, yield* Inference, yield* Ledger, yield* Requests]
    const actor = { type: "operator", id: "t" } as const
    const { account, inferenceKey } = yield* (yield* Customers).open("hedge@example.com", BALANCE, actor)
    const request: ChatRequest = {
      requestId: newRequestId(),
      operation: "chat.completions",
      principal: yield* auth.authenticate(`Bearer ${inferenceKey}`, "inference"),
      model: "model-1",
      chain: ["model-1"],
      policy: plan.policy,
      conversation: asked("Hello", { maxOutputTokens: 100 }),
      parameters: [],
      stream: false,
      budgetCents: undefined,
      claim: undefined,
      steering: undefined,
      arrivedAt: performance.now()
    }
    const ask = (stream: boolean) =>
      stream
        ? Effect.flatMap(inference.chatStream({ ...request, stream }), (answer) => Stream.runDrain(itemsOf(answer)))
        : Effect.asVoid(inference.chat(request))
    return {
      ask,
      receipt: Effect.map(requests.find(account.id, request.requestId), (found) => withFacts(found!)),
      balance: Effect.map(ledger.balance(account.id), (found) => found!)
    }
  }).pipe(Effect.provide(context))
})

describe("a hedged request", () => {
  for (const stream of [false, true]) {
    for (const winner of ["a", "b"] as const) {
      const kind = stream ? "stream" : "complete answer"
      it.live(
        `is served by ${winner === "b" ? "the hedge" : "the first attempt"} as a ${kind}, and charged only for that`,
        () =>
          Effect.gen(function* () {
            const hosts = { a: yield* startHost(10), b: yield* startHost(20) }
            const { ask, balance, receipt } = yield* scene({ a: hosts.a.origin, b: hosts.b.origin })
            const [won, lost] = winner === "a" ? [hosts.a, hosts.b] : [hosts.b, hosts.a]
            // The winner answers when both have been called, the loser never.
            const meeting = Effect.gen(function* () {
              for (const { called } of [hosts.a, hosts.b]) yield* Deferred.await(called)
              yield* won.answer
            })
            yield* Effect.all([ask(stream), meeting], { concurrency: 2 })
            yield* Deferred.await(lost.dropped)
            const { closed, provider, settled, status } = yield* receipt
            assert.deepStrictEqual([status, provider], ["succeeded", winner])
            const cost = tokenCost(price, { ...noTokens, input: PROMPT_TOKENS, output: winner === "a" ? 10 : 20 })
            assert.strictEqual(settled, cost)
            assert.strictEqual(closed?.providerCost, Number(cost))
            // The loser received the whole prompt and reported no usage.
            const nano = Number(tokenCost(price, { ...noTokens, input: countPrompt(asked("Hello")) }))
            const place = { index: 0, provider: winner === "a" ? "b" : "a", model: "model-1" }
            assert.deepStrictEqual(closed?.attemptCosts, [{ ...place, nano, estimated: true }])
            assert.deepStrictEqual(closed?.routing?.provider_attempts, [
              { provider: winner === "a" ? "b" : "a", outcome: "failed_over", attempt_index: 0 },
              { provider: winner, outcome: "served", attempt_index: 1 }
            ])
            const [lostAt = -1, lostFor, wonAt = -1, wonFor] = closed?.attemptMs ?? []
            const [first, hedge] = winner === "a" ? [wonAt, lostAt] : [lostAt, wonAt]
            assert.isBelow(first ?? -1, hedge ?? -1)
            assert.isAbove(lostFor ?? 0, 0)
            // They ran at the same time, and the slower one ended when the faster one answered.
            assert.isBelow(Math.max(lostAt ?? 0, wonAt ?? 0), (lostAt ?? 0) + (lostFor ?? 0))
            assert.isAtMost((lostAt ?? 0) + (lostFor ?? 0), (wonAt ?? 0) + (wonFor ?? 0))
            assert.deepStrictEqual(yield* balance, { posted: BALANCE - cost, held: 0n })
          }).pipe(Effect.scoped)
      )
    }
  }
})
