/** Routing summaries, checked against the published contract, not against the schema in the code. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, JsonSchema, Layer, Result, Schema, SchemaRepresentation, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Auth } from "../../src/auth/Auth.ts"
import { Customers } from "../../src/billing/Customers.ts"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { everyProvider } from "../support/Providers.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import { listedProviders } from "../../src/catalogue/Providers.ts"
import { decodeChat } from "../../src/dialects/chat/ChatDecode.ts"
import { extrasOf } from "../../src/dialects/chat/ChatEncode.ts"
import { Inference } from "../../src/inference/Inference.ts"
import { type RowFacts, restoreClosed } from "../../src/inference/Receipt.ts"
import type { ChatRequest } from "../../src/inference/Request.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { PromptImages } from "../../src/inference/PromptImages.ts"
import { PublicFetch } from "../../src/platform/outbound/PublicFetch.ts"
import { ProviderPool } from "../../src/providers/pool/ProviderPool.ts"
import { makeSandbox } from "../../src/providers/sandbox/Sandbox.ts"
import { parseChain } from "../../src/domain/Chain.ts"
import { Router } from "../../src/router/Router.ts"
import { Requests } from "../../src/usage/Requests.ts"
import { Random, seeds } from "../ledger/Random.ts"
import { layer as database } from "../support/Database.ts"
import { textOf } from "../support/Sources.ts"
import { itemsOf } from "../support/Streams.ts"
import { seals } from "../support/Seals.ts"

const REQUESTS = 10_000

/** Requests that run at the same time. */
const CONCURRENCY = 128

type Json = Readonly<Record<string, unknown>>

const schemas: Readonly<Record<string, Json>> = JSON.parse(textOf("schemas/published/openapi.json")).components.schemas

/** Every published schema that a summary consists of, by name. */
const reached = (name: string, found: Map<string, Json> = new Map()): ReadonlyMap<string, Json> => {
  const schema = schemas[name] ?? assert.fail(`no ${name} is published`)
  if (found.has(name)) return found
  found.set(name, schema)
  for (const [, other] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) reached(other!, found)
  return found
}

const published = [...reached("RoutingSummary")]

/** Decodes by the published schema, which is closed: an object with properties has no others. */
const decode = (() => {
  const rewritten = (schema: Json) => JsonSchema.fromSchemaOpenApi3_1(schema as JsonSchema.JsonSchema).schema
  const schema = SchemaRepresentation.fromJsonSchemaDocument({
    dialect: "draft-2020-12",
    schema: { $ref: "#/$defs/RoutingSummary" },
    definitions: Object.fromEntries(published.map(([name, one]) => [name, rewritten(one)]))
  })
  return Schema.decodeUnknownResult(schema as Schema.Decoder<unknown>, { onExcessProperty: "error" })
})()

const random = (seed: number) => new Random(seed)

const some = <A>(random: Random, all: ReadonlyArray<A>, most: number): ReadonlyArray<A> => [
  ...new Set(Array.from({ length: random.below(most + 1) }, () => random.pick(all)))
]

const maybe = (random: Random, chance: number, members: () => Json): Json => (random.chance(chance) ? members() : {})

/** A routing policy of a caller; most leave at least one provider. */
const routingOf = (random: Random, providers: ReadonlyArray<string>): Json => ({
  ...maybe(random, 0.6, () => ({ strategy: random.pick(["balanced", "cost", "latency", "quality"]) })),
  ...maybe(random, 0.3, () => ({
    providers: {
      ...maybe(random, 0.2, () => ({ only: [...some(random, providers, 6), "openai", "anthropic"] })),
      ...maybe(random, 0.5, () => ({ order: some(random, providers, 4) })),
      ...maybe(random, 0.5, () => ({ ignore: some(random, providers, 3) }))
    }
  })),
  ...maybe(random, 0.4, () => ({ allow_fallbacks: random.chance(0.5) })),
  ...maybe(random, 0.3, () => ({ data_policy: random.pick(["default", "no_training", "zero_retention"]) })),
  ...maybe(random, 0.2, () => ({ caching: "auto" })),
  ...maybe(random, 0.1, () => ({ require_parameters: true })),
  ...maybe(random, 0.1, () => ({ max_price: { prompt: 1 + random.below(20), completion: 5 + random.below(60) } })),
  ...maybe(random, 0.1, () => ({ timeouts: { total_ms: 200 + random.below(5_000) } }))
})

/** A request body, and the steering of the sandbox providers. */
const generated = (random: Random, models: ReadonlyArray<string>, providers: ReadonlyArray<string>) => {
  const chain = [...new Set([random.pick(models), ...some(random, models, random.chance(0.1) ? 14 : 3)])]
  const ids = random.chance(0.05) ? ["svc/auto"] : chain
  const body = {
    ...(ids.length > 3 || random.chance(0.5) ? { models: ids.slice(0, 15) } : { model: ids.join(",") }),
    messages: [{ role: "user", content: random.pick(["Hello", "Translate this", "Prove it, step by step", "¿Qué?"]) }],
    max_tokens: 1 + random.below(200),
    stream: random.chance(0.3),
    ...maybe(random, 0.8, () => ({ routing: routingOf(random, providers) })),
    ...maybe(random, 0.1, () => ({ temperature: 0.5 }))
  }
  const faults = ["error", "rate_limit", "malformed", "empty", "break", "no_usage", "wrong_usage"]
  // A stall lasts until a clock ends it, so it is limited to one provider.
  const fault = random.chance(0.02) ? "stall" : random.pick(faults)
  const whom = fault === "stall" || random.chance(0.6) ? `,provider=${random.pick(providers)}` : ""
  const steering = random.chance(0.5) ? `fault=${fault},after=${random.below(3)}${whom}` : undefined
  return { body, steering, source: random.chance(0.1) ? ("project" as const) : undefined }
}

const clocks = { connectMs: 5_000, firstTokenMs: 250, idleMs: 250, totalMs: 500 }

const rooms = Inference.layerFrom({
  holdTtl: Duration.minutes(5),
  drain: Duration.zero,
  shutdownGrace: Duration.seconds(20)
}).pipe(
  Layer.provide(seals),
  Layer.provideMerge(
    Layer.unwrap(
      Effect.map(LiveFigures, (live) =>
        ProviderPool.layerFrom({
          providers: listedProviders.map(({ id }) => makeSandbox(id)),
          clocks,
          // Live figures build up, and with them the orders of the strategies.
          observe: live.record
        })
      )
    )
  ),
  Layer.provideMerge(
    Layer.mergeAll(
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
  Layer.provideMerge(Audit.layer),
  Layer.provideMerge(database)
)

/** The routing summary in the answer; undefined if the request fails. */
const answered = (inference: Inference["Service"], chat: ChatRequest): Effect.Effect<unknown> =>
  (chat.stream
    ? Effect.flatMap(inference.chatStream(chat), (answer) =>
        Effect.map(Stream.runLast(itemsOf(answer)), (last) =>
          last._tag === "Some" && last.value._tag === "End" ? extrasOf(last.value.answer).routing : undefined
        )
      )
    : Effect.map(inference.chat(chat), ({ answer }) => extrasOf(answer).routing)
  ).pipe(Effect.catch(() => Effect.undefined))

describe("a routing summary", () => {
  it("is published as a closed schema with all its parts", () => {
    assert.includeMembers(
      published.map(([name]) => name),
      ["RoutingSummary", "ProviderAttempt", "RouterDecisionSummary"]
    )
    for (const [name, schema] of published) {
      if (schema["properties"] !== undefined) assert.strictEqual(schema["additionalProperties"], false, name)
    }
    const plain = {
      strategy: "cost",
      requested_models: ["a"],
      resolved_model: "a",
      provider: null,
      fallbacks_allowed: true,
      data_policy: "default"
    }
    assert.isTrue(Result.isSuccess(decode(plain)))
    const attempt = { provider: "p", outcome: "served", attempt_index: 0 }
    const wrong = [
      { ...plain, note: 1 },
      { ...plain, strategy: "luck" },
      { ...plain, provider: undefined },
      { ...plain, requested_models: [""] },
      { ...plain, provider_attempts: [{ ...attempt, model: "a" }] },
      { ...plain, provider_attempts: [{ ...attempt, attempt_index: -1 }] }
    ]
    for (const one of wrong) assert.isTrue(Result.isFailure(decode(one)), JSON.stringify(one))
  })

  const [seed = 0] = seeds(1)
  it.live(
    `of ${REQUESTS} generated requests matches the published schema (LEDGER_SEED=${seed})`,
    () =>
      Effect.gen(function* () {
        const inference = yield* Inference
        const catalogue = yield* Catalogue
        const sql = yield* SqlClient.SqlClient
        const { inferenceKey } = yield* (yield* Customers).open("many@example.com", 1_000_000_000_000n, {
          type: "operator",
          id: "t"
        })
        const principal = yield* (yield* Auth).authenticate(`Bearer ${inferenceKey}`, "inference")
        const models = catalogue.all
          .filter((model) => model.modality === "text" && catalogue.isServable(model) && !model.virtual)
          .map(({ id }) => id)
        const providers = catalogue.providers.map(({ id }) => id)
        const draw = random(seed)
        const requests = Array.from({ length: REQUESTS }, () => generated(draw, models, providers))
        const said = yield* Effect.forEach(
          requests,
          ({ body, source, steering }) => {
            const decoded = Result.getOrThrow(decodeChat(body))
            const chain = Result.getOrThrow(parseChain(decoded.model, decoded.models))
            return answered(inference, {
              ...decoded,
              requestId: newRequestId(),
              operation: "chat.completions",
              principal,
              model: decoded.model ?? chain.join(","),
              chain,
              policy: { ...decoded.policy, source: source ?? decoded.policy.source },
              claim: undefined,
              steering,
              arrivedAt: performance.now()
            })
          },
          { concurrency: CONCURRENCY }
        )
        // The receipts contain the summary of every admitted request, even of those without an answer.
        const rows = yield* sql<
          RowFacts & { closed: unknown }
        >`SELECT model, resolved_model, provider, closed FROM request`
        const kept = rows.map((row) => restoreClosed(row.closed, row)?.routing)
        assert.notInclude(kept, undefined)
        const answers = said.filter((one) => one !== undefined)
        const summaries: ReadonlyArray<unknown> = [
          ...answers.map((one): unknown => JSON.parse(JSON.stringify(one))),
          ...kept.map((routing): unknown => JSON.parse(JSON.stringify(routing)))
        ]
        // The other requests were rejected before a hold, because no provider meets their restrictions.
        assert.isAbove(kept.length, 0.8 * REQUESTS)
        assert.isAbove(answers.length, 0.5 * REQUESTS)
        for (const one of summaries) {
          const result = decode(one)
          if (Result.isFailure(result)) assert.fail(`${JSON.stringify(one)}: ${String(result.failure)}`)
        }
        // The sample must contain every value of each closed list, and a request without a provider.
        const all = JSON.stringify(summaries)
        const met = [
          ...["balanced", "cost", "latency", "quality"].map((one) => `"strategy":"${one}"`),
          ...["default", "no_training", "zero_retention"].map((one) => `"data_policy":"${one}"`),
          ...["served", "failed_over", "failed"].map((one) => `"outcome":"${one}"`),
          ...["request", "project", "default"].map((one) => `"source":"${one}"`),
          ...[true, false].map((one) => `"fallbacks_allowed":${one}`),
          '"caching":"auto"',
          '"provider":null',
          '"router":{"'
        ]
        for (const one of met) assert.include(all, one)
      }).pipe(Effect.provide(rooms), Effect.scoped),
    { timeout: 120_000 }
  )
})
