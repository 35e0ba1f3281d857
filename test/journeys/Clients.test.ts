/** Every official client with every operation it has, against the sandbox and against a simulation of each vendor's wire format. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Schedule } from "effect"
import { nano } from "../support/Amounts.ts"
import { get, json, type Service, startService } from "../support/Service.ts"
import { anthropicMessages } from "./clients/AnthropicMessages.ts"
import { type Behind, hosts } from "./clients/Hosts.ts"
import { openAiChat } from "./clients/OpenAiChat.ts"
import { openAiResponses } from "./clients/OpenAiResponses.ts"
import { Sky, type Surface, type SurfaceOf, type Told, weather } from "./clients/Surface.ts"

const surfaces = [openAiChat, openAiResponses, anthropicMessages]

interface Scene extends Behind {
  readonly service: Service
  readonly surface: SurfaceOf
  readonly client: Surface
  readonly key: string
  readonly accountId: string
}

const receipts = ({ key, service }: Scene) =>
  Effect.map(Effect.flatMap(get(`${service.api}/requests?limit=100`, key), json), ({ data }) => data)

/** Checks that an answer comes plain and in pieces, and is charged the cost that it shows. */
const says = Effect.fnUntraced(function* (scene: Scene) {
  const { accountId, client, model, service, usage } = scene
  for (const stream of [false, true]) {
    const before = (yield* service.balance(accountId)).posted
    const said = yield* Effect.promise(() => client.say({ model, text: "hello", stream }))
    assert.include(said.text, "ello")
    assert.strictEqual(said.pieces.join(""), stream ? said.text : "")
    if (stream) assert.isAbove(said.pieces.length, 1)
    if (usage !== undefined) {
      assert.deepStrictEqual([said.inputTokens, said.outputTokens], [usage.input, usage.output])
    }
    const after = (yield* service.balance(accountId)).posted
    assert.isTrue(before > after)
    assert.strictEqual(before - after, nano(said.costUsd))
  }
})

/** Checks that the model calls a tool, and answers after its result. */
const loops = Effect.fnUntraced(function* ({ client, model }: Scene) {
  for (const stream of [false, true]) {
    const ran: Array<string> = []
    const text = "How warm is it in Oslo?"
    const answer = yield* Effect.promise(() => client.loop({ model, text, stream }, (city) => ran.push(city)))
    assert.include(answer, weather.answer)
    assert.deepStrictEqual(ran, ["Oslo"])
  }
})

const callsSideBySide = Effect.fnUntraced(function* ({ client, model }: Scene) {
  for (const stream of [false, true]) {
    const calls = yield* Effect.promise(() => client.calls({ model, text: "The weather and time of Oslo", stream }))
    assert.deepStrictEqual(calls, [
      ["weather", "Oslo"],
      ["time", "Oslo"]
    ])
  }
})

const keepsToSchemas = Effect.fnUntraced(function* ({ client, model }: Scene) {
  const [whole, streamed] = yield* Effect.promise(async () => [
    Sky.parse(await client.parse({ model, text: "the sky", stream: false })),
    Sky.parse(await client.parse({ model, text: "the sky", stream: true }))
  ])
  assert.deepStrictEqual(streamed, whole)
})

/** Checks that reasoning comes with the answer, and that the next request may include it. */
const thinks = Effect.fnUntraced(function* ({ client, thinker: model, usage }: Scene) {
  const [whole, streamed] = yield* Effect.promise(
    async () =>
      [
        await client.think({ model, text: "ponder the sea", stream: false }),
        await client.think({ model, text: "ponder the sea", stream: true })
      ] as const
  )
  assert.deepStrictEqual(streamed, whole)
  if (usage === undefined) assert.include(whole.thought, "Considering")
  else assert.deepStrictEqual([whole.thought, whole.text], ["The sea is wide.", "It is wide"])
  assert.include(whole.next, "ello")
})

/** Returns the error that a client throws for a call that must fail. */
const toldOf = (client: Surface, turn: Parameters<Surface["say"]>[0]): Effect.Effect<Told> =>
  Effect.promise(async () => {
    try {
      await client.say(turn)
    } catch (error) {
      return client.told(error)
    }
    return assert.fail("the call must fail")
  })

/** Checks that a failure before output throws the client's own error class with our code, plain and streamed, and is free. */
const fails = Effect.fnUntraced(function* ({ accountId, client, model, service, surface, usage }: Scene) {
  const { posted } = yield* service.balance(accountId)
  const poor = surface.make(service, (yield* service.account(0)).inferenceKey)
  const stranger = surface.make(service, `svc_sk_${"A".repeat(43)}`)
  for (const stream of [false, true]) {
    const hello = { model, text: "hello", stream }
    const cases: Array<readonly [Surface, typeof hello, Told]> = [
      [stranger, hello, { kind: "AuthenticationError", status: 401, code: "invalid_api_key", param: null }],
      [poor, hello, { kind: surface.noMoney, status: 402, code: "insufficient_credits", param: null }],
      [
        client,
        { ...hello, model: "none" },
        { kind: "BadRequestError", status: 400, code: "unknown_model", param: "model" }
      ],
      [client, { ...hello, model: "@none" }, { kind: "NotFoundError", status: 404, code: "not_found", param: "model" }]
    ]
    if (usage !== undefined) {
      const refused = { kind: "BadRequestError", status: 400, code: "validation_error", param: null }
      const broken = { kind: "InternalServerError", status: 502, code: "upstream_error", param: null }
      cases.push([client, { ...hello, text: "refuse" }, refused], [client, { ...hello, text: "fail" }, broken])
    }
    for (const [asking, turn, expected] of cases) {
      assert.deepStrictEqual(yield* toldOf(asking, turn), expected)
    }
  }
  assert.strictEqual((yield* service.balance(accountId)).posted, posted)
})

const SETTLED_WITHIN = { schedule: Schedule.spaced(Duration.millis(20)), times: 500 }

/** Checks that a client that disconnects during a stream pays for the delivered output, and that no hold is left. */
const disconnects = Effect.fnUntraced(function* (scene: Scene) {
  const { accountId, key, model, service, slow, surface } = scene
  const before = (yield* service.balance(accountId)).posted
  const client = surface.make(service, key, slow)
  assert.strictEqual(yield* Effect.promise(() => client.abort({ model, text: "a long one" })), "APIUserAbortError")
  const balance = yield* service.balance(accountId).pipe(
    Effect.flatMap((one) => (one.held === 0n ? Effect.succeed(one) : Effect.fail("held"))),
    Effect.retry(SETTLED_WITHIN)
  )
  const [receipt] = yield* receipts(scene)
  assert.deepInclude(receipt, { status: "cancelled", streamed: true, model })
  assert.strictEqual(before - balance.posted, nano(receipt.cost_usd))
  assert.isTrue(balance.posted < before)
  // The whole answer would have 300 tokens or more.
  assert.isBelow(receipt.usage.output_tokens, 300)
})

const steps = [says, loops, callsSideBySide, keepsToSchemas, thinks, fails, disconnects]

for (const host of hosts) {
  describe(`with ${host.name} as the provider,`, () => {
    for (const surface of surfaces) {
      it.live(`${surface.name} work in full: answers, tools, schemas, reasoning, errors and disconnects`, () =>
        Effect.gen(function* () {
          const behind = yield* host.start
          const service = yield* startService({ ...behind.env, CLIENT_DRAIN: "1 second" })
          const { account, inferenceKey: key } = yield* service.account(10)
          const client = surface.make(service, key)
          const scene: Scene = { ...behind, service, surface, client, key, accountId: account.id }
          for (const step of steps) yield* step(scene)
          assert.deepStrictEqual(yield* service.faults, [])
        }).pipe(Effect.scoped)
      )
    }
  })
}
