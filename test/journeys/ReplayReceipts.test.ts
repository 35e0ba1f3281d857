/** The `X-Request-ID` of a replay leads to the receipt of the first answer. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { RequestReceipt } from "../../schemas/account/Requests.ts"
import { upstream } from "../providers/upstream.ts"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const receipt = Schema.decodeUnknownSync(RequestReceipt, { onExcessProperty: "error" })

const chat = (content: string, more: object = {}) => ({
  model: "gpt-4o-mini",
  messages: [{ role: "user", content }],
  ...more
})

const idOf = (response: Response) => response.headers.get("x-request-id") ?? ""

/** Reads the receipt of a request, and checks it with its schema. */
const decodedReceipt = (service: Service, key: string, id: string) => Effect.map(receiptOf(service, key, id), receipt)

/** Sends a request twice under one idempotency key, and reads both answers. */
const twice = (service: Service, key: string, path: string, body: object) =>
  Effect.gen(function* () {
    const ask = Effect.tap(post(`${service.api}${path}`, key, body, { "idempotency-key": `twice ${path}` }), (answer) =>
      Effect.promise(() => answer.clone().text())
    )
    const [first, again] = [yield* ask, yield* ask]
    assert.notStrictEqual(idOf(again), idOf(first))
    return { first, again }
  })

/** Checks that a request and its replay have the same receipt, with `replayed_from` for the replay. */
const leadsTo = (service: Service, key: string, { again, first }: { first: Response; again: Response }) =>
  Effect.gen(function* () {
    const original = yield* decodedReceipt(service, key, idOf(first))
    assert.notProperty(original, "replayed_from")
    const found = yield* decodedReceipt(service, key, idOf(again))
    assert.deepStrictEqual(found, { ...original, replayed_from: idOf(first) })
    return found
  })

describe("the request id of a replay", () => {
  it.live("leads to the receipt of the first answer for every operation, and the replay costs nothing", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(50)
      const cases = [
        ["/chat/completions", chat("Whole")],
        ["/responses", { model: "gpt-4o-mini", input: "Streamed", stream: true }],
        ["/messages", chat("Messages", { max_tokens: 50 })],
        ["/embeddings", { model: "text-embedding-3-small", input: "Vectors" }],
        ["/images", { model: "gpt-image-1", prompt: "A kite" }],
        ["/videos", { model: "veo-3", prompt: "A kite", duration: 4, aspect_ratio: "16:9" }],
        ["/batch", { requests: [{ body: chat("One of a batch") }] }]
      ] as const
      for (const [path, body] of cases) {
        const asked = yield* twice(service, inferenceKey, path, body)
        assert.deepStrictEqual(
          [path, asked.first.status, asked.again.status, asked.again.headers.get("idempotency-replayed")],
          [path, 200, 200, "true"]
        )
        const { posted } = yield* service.balance(account.id)
        yield* leadsTo(service, inferenceKey, asked)
        assert.strictEqual((yield* service.balance(account.id)).posted, posted)
      }
      const listed = yield* Effect.flatMap(get(`${service.api}/requests?limit=50`, inferenceKey), json)
      assert.strictEqual(listed.data.length, cases.length + 1, "a replay must not be in the list of requests")
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("leads to the receipt of a replayed refusal, and of an answer that was not kept", () =>
    Effect.gen(function* () {
      const host = yield* upstream((request, response) => {
        request.resume().on("end", () => {
          response.writeHead(400, { "content-type": "application/json" })
          response.end(JSON.stringify({ error: { message: "too odd", type: "invalid_request_error", code: null } }))
        })
      })
      const service = yield* startService({ OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${host.origin}/v1` })
      const { inferenceKey } = yield* service.account(1)
      const refused = yield* twice(
        service,
        inferenceKey,
        "/chat/completions",
        chat("Odd", { routing: { providers: { only: ["openai"] } } })
      )
      assert.deepStrictEqual([refused.again.status, refused.again.headers.get("idempotency-replayed")], [400, "true"])
      assert.strictEqual((yield* leadsTo(service, inferenceKey, refused)).status, "failed")
      const silent = { model: "claude-sonnet-4-5", routing: { data_policy: "zero_retention" } }
      const unkept = yield* twice(service, inferenceKey, "/chat", chat("Silent", silent))
      assert.strictEqual(unkept.again.status, 409)
      assert.strictEqual((yield* leadsTo(service, inferenceKey, unkept)).status, "succeeded")
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("gives 404 to another account, and so does the id of a request that was refused with 422", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [one, other] = [yield* service.account(1), yield* service.account(1)]
      const { again } = yield* twice(service, one.inferenceKey, "/chat/completions", chat("Mine"))
      const foreign = yield* get(`${service.api}/requests/${idOf(again)}`, other.inferenceKey)
      assert.deepStrictEqual([foreign.status, (yield* json(foreign)).error.code], [404, "not_found"])
      const reused = yield* post(`${service.api}/chat/completions`, one.inferenceKey, chat("Else"), {
        "idempotency-key": "twice /chat/completions"
      })
      assert.strictEqual(reused.status, 422)
      assert.strictEqual((yield* get(`${service.api}/requests/${idOf(reused)}`, one.inferenceKey)).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("may fail to be stored, and the client still gets the replay", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      yield* service.sql`ALTER TABLE replay RENAME TO replay_elsewhere`
      const { again, first } = yield* twice(service, inferenceKey, "/chat/completions", chat("Whole"))
      assert.deepStrictEqual([again.status, again.headers.get("idempotency-replayed")], [200, "true"])
      const [answer, repeated] = [yield* json(first), yield* json(again)]
      assert.deepStrictEqual(repeated, answer)
      const { posted } = yield* service.balance(account.id)
      assert.strictEqual(1_000_000_000n - posted, nano(answer.cost_usd))
      yield* service.sql`ALTER TABLE replay_elsewhere RENAME TO replay`
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})
