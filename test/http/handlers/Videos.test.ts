import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { get, json, post, type Service, startService } from "../../support/Service.ts"

const clip = { model: "veo-3", prompt: "A kite over the sea", duration: 4, aspect_ratio: "16:9" } as const

/** Jobs that are taken and never come to an end. */
const stalled = { "x-svc-sandbox": "fault=stall" }

const submit = (service: Service, key: string, body: object = clip, headers: Record<string, string> = stalled) =>
  post(`${service.api}/videos`, key, body, headers)

const refusal = (response: Response) =>
  Effect.map(json(response), ({ error }) => [response.status, error.code, error.param])

const processing = (service: Service, key: string, id: string) =>
  Effect.repeat(Effect.flatMap(get(`${service.api}/videos/${id}`, key), json), {
    schedule: Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "20 seconds" })),
    until: ({ status }) => status === "processing"
  })

describe("the list of videos", () => {
  it.live("has an account's jobs, page by page, in either order", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "1000" })
      const { inferenceKey: key } = yield* service.account(20)
      yield* submit(service, (yield* service.account(20)).inferenceKey)
      const list = (query: string) => Effect.flatMap(get(`${service.api}/videos${query}`, key), json)
      const none = { object: "list", data: [], first_id: null, last_id: null, has_more: false }
      assert.deepStrictEqual(yield* list(""), none)
      const ids = yield* Effect.forEach([1, 2, 3], () =>
        Effect.map(Effect.flatMap(submit(service, key), json), ({ id }) => id as string)
      )
      const [first, second, third] = ids
      const newest = yield* list("?limit=2")
      assert.deepStrictEqual(
        newest.data.map(({ id }: { id: string }) => id),
        [third, second]
      )
      assert.deepInclude(newest, { first_id: third, last_id: second, has_more: true })
      assert.deepInclude(newest.data[0], { object: "video", prompt: clip.prompt, model: clip.model })
      const rest = yield* list(`?limit=2&after=${second}`)
      assert.deepInclude(rest, { first_id: first, last_id: first, has_more: false })
      assert.deepInclude(yield* list("?order=asc&limit=1"), { first_id: first, has_more: true })
      assert.deepInclude(yield* list(`?order=asc&after=${first}`), { first_id: second, last_id: third })
      assert.deepStrictEqual(yield* refusal(yield* get(`${service.api}/videos?order=up`, key)), [
        400,
        "validation_error",
        "order"
      ])
    }).pipe(Effect.scoped)
  )
})

describe("the routes of videos", () => {
  it.live("name each invalid field, and report when no provider can make the video", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey: key } = yield* service.account(20)
      const wrong: ReadonlyArray<readonly [object, string]> = [
        [{ ...clip, duration: 5 }, "duration"],
        [{ ...clip, duration: 16 }, "duration"],
        [{ ...clip, aspect_ratio: "1:1" }, "aspect_ratio"],
        [{ ...clip, seed: 7 }, "seed"],
        [{ ...clip, image_url: "http://127.0.0.1/a.png" }, "image_url"],
        [{ ...clip, reference_images: ["https://example.com/a.png"] }, "reference_images"]
      ]
      for (const [body, param] of wrong) {
        assert.deepStrictEqual(yield* refusal(yield* submit(service, key, body)), [400, "validation_error", param])
      }
      const chat = yield* submit(service, key, { ...clip, model: "gpt-4o-mini" })
      assert.deepStrictEqual(yield* refusal(chat), [400, "unknown_model", "model"])
      assert.strictEqual((yield* service.balance(account.id)).posted, 20_000_000_000n)
      const bare = yield* startService({ SANDBOX: "off" })
      const other = yield* bare.account(20)
      assert.deepStrictEqual(yield* refusal(yield* submit(bare, other.inferenceKey)), [
        503,
        "service_unavailable",
        null
      ])
    }).pipe(Effect.scoped)
  )

  it.live("show a job only to its account, and use the legacy error format on legacy routes", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey: key } = yield* service.account(20)
      const { inferenceKey: stranger } = yield* service.account(1)
      const { id } = yield* Effect.flatMap(submit(service, key), json)
      for (const path of [`/videos/${id}`, `/videos/${id}/content`, "/videos/none"]) {
        const response = yield* get(`${service.api}${path}`, stranger)
        assert.deepStrictEqual(yield* refusal(response), [404, "not_found", null])
      }
      assert.deepStrictEqual(yield* refusal(yield* get(`${service.api}/videos/${id}/content`, key)), [
        404,
        "not_found",
        null
      ])
      const legacy = yield* get(`${service.api}/video/status?id=${id}`, stranger)
      const body = yield* json(legacy)
      assert.strictEqual(legacy.status, 404)
      assert.deepInclude(body, { code: "not_found", message: body.error.message })
      assert.match(body.request_id, /^req_/)
      const unnamed = yield* get(`${service.api}/video/status`, key)
      assert.deepStrictEqual([unnamed.status, (yield* json(unnamed)).error.param], [400, "id"])
      const wrong = yield* post(`${service.api}/video`, key, { ...clip, duration: 1 })
      assert.deepInclude(yield* json(wrong), { code: "validation_error" })
      for (const [method, at] of [
        ["GET", "/video"],
        ["POST", "/video/status"]
      ] as const) {
        const refused = yield* Effect.promise(() => fetch(`${service.api}${at}`, { method }))
        const { code, error, message, request_id } = yield* json(refused)
        assert.strictEqual(refused.status, 405, at)
        assert.deepStrictEqual([code, message], ["method_not_allowed", error.message], at)
        assert.strictEqual(request_id, refused.headers.get("x-request-id"), at)
      }
    }).pipe(Effect.scoped)
  )

  it.live("answer a repeated request with the same job and the replay header", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey: key } = yield* service.account(20)
      const again = { ...stalled, "idempotency-key": "k" }
      const first = yield* submit(service, key, clip, again)
      const second = yield* submit(service, key, clip, again)
      assert.strictEqual((yield* json(first)).id, (yield* json(second)).id)
      assert.isNull(first.headers.get("idempotency-replayed"))
      assert.strictEqual(second.headers.get("idempotency-replayed"), "true")
      const other = yield* submit(service, key, { ...clip, duration: 6 }, again)
      assert.strictEqual(other.status, 422)
      assert.strictEqual((yield* service.balance(account.id)).posted, 18_400_000_000n)
    }).pipe(Effect.scoped)
  )

  it.live("limit submissions more strictly than status requests", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "1" })
      const { inferenceKey: key } = yield* service.account(20)
      const { id } = yield* Effect.flatMap(submit(service, key), json)
      assert.strictEqual((yield* post(`${service.api}/video`, key, clip, stalled)).status, 200)
      const third = yield* submit(service, key)
      assert.strictEqual(third.status, 429)
      assert.isAbove(Number(third.headers.get("retry-after")), 0)
      const asked = yield* Effect.forEach(Array.from({ length: 70 }), () =>
        get(`${service.api}/video/status?id=${id}`, key)
      )
      assert.deepStrictEqual([...new Set(asked.map(({ status }) => status))], [200])
    }).pipe(Effect.scoped)
  )

  it.live(
    "report when the provider cannot be reached",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { inferenceKey: key } = yield* service.account(20)
        const { id } = yield* Effect.flatMap(submit(service, key, clip, { "x-svc-sandbox": "fault=malformed" }), json)
        yield* processing(service, key, id)
        // The worker asks too, and who asks just after it is answered with what is known.
        const failed = yield* Effect.repeat(get(`${service.api}/videos/${id}`, key), {
          schedule: Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "40 seconds" })),
          until: ({ status }) => status === 502
        })
        assert.deepStrictEqual(yield* refusal(failed), [502, "status_check_failed", null])
      }).pipe(Effect.scoped),
    60_000
  )

  it.live("include the low balance warning in the submitted job", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey: key } = yield* service.account(2)
      const { balance_warning } = yield* Effect.flatMap(submit(service, key), json)
      assert.deepInclude(balance_warning, { warning: "low_balance" })
      assert.deepStrictEqual(yield* refusal(yield* submit(service, key)), [402, "insufficient_credits", null])
    }).pipe(Effect.scoped)
  )
})
