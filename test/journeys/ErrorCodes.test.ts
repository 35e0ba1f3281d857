/** Every error code that the API lists, produced through the public API. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { layerUrl } from "../support/Database.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

/** What a case needs: the gateway, and the key of an account with enough money. */
interface Stage {
  readonly service: Service
  readonly key: string
}

type Answer = Effect.Effect<Response, unknown>

interface Case {
  readonly status: number
  readonly code: string
  readonly of: (stage: Stage) => Answer
  /** Whether the client may be charged. */
  readonly charged?: true
}

const text = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] }

/** Damages a stored receipt. */
const damaged = ({ databaseUrl }: Service, id: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE request SET opened = '"damaged"' WHERE id = ${id}`).pipe(
    Effect.provide(layerUrl(databaseUrl, 1))
  )

const chat = ({ key, service }: Stage, body: unknown, headers: Record<string, string> = {}) =>
  post(`${service.api}/chat/completions`, key, body, headers)

const steered = (steering: string) => ({ "x-svc-sandbox": steering })

/** Returns an image that starts like a PNG and exceeds the size limit. */
const hugeImage = () =>
  `data:image/png;base64,${Buffer.concat([Buffer.from("iVBORw0KGgo=", "base64"), Buffer.alloc(21 << 20)]).toString("base64")}`

const cases: ReadonlyArray<Case> = [
  { status: 400, code: "invalid_json", of: (stage) => chat(stage, '{"model":') },
  { status: 400, code: "validation_error", of: (stage) => chat(stage, { ...text, temperature: 9 }) },
  { status: 400, code: "unknown_model", of: (stage) => chat(stage, { ...text, model: "nobody/none" }) },
  {
    status: 400,
    code: "no_model_in_budget",
    of: ({ key, service }) =>
      post(`${service.api}/chat`, key, {
        model: "gpt-4o",
        messages: [{ role: "user", content: "word ".repeat(50_000) }],
        budget_cents: 1
      })
  },
  { status: 400, code: "invalid_fallback_chain", of: (stage) => chat(stage, { ...text, model: "a,,b" }) },
  {
    status: 400,
    code: "model_not_vision_capable",
    of: (stage) =>
      chat(stage, {
        model: "microsoft/phi-4",
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }] }]
      })
  },
  {
    status: 400,
    code: "model_not_tool_capable",
    of: (stage) =>
      chat(stage, {
        ...text,
        model: "sonar",
        tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }]
      })
  },
  { status: 400, code: "invalid_period", of: ({ key, service }) => get(`${service.api}/usage?period=2d`, key) },
  {
    status: 401,
    code: "missing_api_key",
    of: ({ service }) => Effect.promise(() => fetch(`${service.api}/usage?period=1d`))
  },
  { status: 401, code: "invalid_api_key", of: (stage) => chat({ ...stage, key: "svc_sk_wrong" }, text) },
  {
    status: 402,
    code: "insufficient_credits",
    of: ({ service }) =>
      Effect.flatMap(service.account(0), ({ inferenceKey }) => chat({ service, key: inferenceKey }, text))
  },
  {
    status: 404,
    code: "not_found",
    of: ({ key, service }) => get(`${service.api}/videos/0123456789abcdef01234567`, key)
  },
  {
    status: 413,
    code: "image_too_large",
    of: (stage) =>
      chat(stage, {
        ...text,
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: hugeImage() } }] }]
      })
  },
  {
    status: 429,
    code: "rate_limit_exceeded",
    of: () =>
      Effect.gen(function* () {
        const service = yield* startService({ RATE_LIMIT_SCALE: "1" })
        const { inferenceKey } = yield* service.account()
        const url = `${service.api}/key`
        for (let sent = 0; sent < 60; sent++) yield* Effect.andThen(get(url, inferenceKey), json)
        return yield* get(url, inferenceKey)
      }).pipe(Effect.scoped)
  },
  {
    status: 500,
    code: "internal_error",
    of: ({ key, service }) =>
      Effect.gen(function* () {
        const { request_id: id } = yield* Effect.flatMap(chat({ key, service }, text), json)
        yield* damaged(service, id)
        return yield* get(`${service.api}/requests/${id}`, key)
      })
  },
  {
    status: 500,
    code: "batch_request_failed",
    charged: true,
    of: ({ key, service }) => post(`${service.api}/batch`, key, { requests: [{ body: text }] }, steered("fault=error"))
  },
  { status: 502, code: "generation_failed", of: (stage) => draw(stage, "fault=error") },
  { status: 502, code: "empty_completion", of: (stage) => chat(stage, text, steered("fault=empty")) },
  { status: 502, code: "empty_generation", of: (stage) => draw(stage, "fault=empty") },
  {
    status: 502,
    code: "search_failed",
    of: ({ key, service }) => post(`${service.api}/search`, key, { query: "moon" }, steered("fault=error"))
  },
  {
    status: 502,
    code: "status_check_failed",
    charged: true,
    of: ({ key, service }) =>
      Effect.gen(function* () {
        const { id } = yield* Effect.flatMap(
          post(`${service.api}/videos`, key, videoRequest, steered("fault=malformed")),
          json
        )
        // Until the job is submitted, there is no provider to poll.
        return yield* get(`${service.api}/videos/${id}`, key).pipe(
          Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: ({ status }) => status !== 200 })
        )
      })
  },
  {
    status: 503,
    code: "service_unavailable",
    of: () =>
      Effect.gen(function* () {
        const service = yield* startService({ SANDBOX: "off", OPENAI_API_KEY: "sk-test" })
        const { inferenceKey } = yield* service.account()
        return yield* post(`${service.api}/videos`, inferenceKey, videoRequest)
      }).pipe(Effect.scoped)
  }
]

const videoRequest = { model: "grok-imagine-video", prompt: "A gate opens", duration: 4, aspect_ratio: "16:9" }

const draw = ({ key, service }: Stage, steering: string) =>
  post(`${service.api}/images/generations`, key, { model: "flux-dev", prompt: "A gate" }, steered(steering))

/** The error codes that the API lists. */
const listed = [
  "invalid_json",
  "validation_error",
  "unknown_model",
  "no_model_in_budget",
  "invalid_fallback_chain",
  "model_not_vision_capable",
  "model_not_tool_capable",
  "invalid_period",
  "missing_api_key",
  "invalid_api_key",
  "insufficient_credits",
  "not_found",
  "image_too_large",
  "rate_limit_exceeded",
  "internal_error",
  "batch_request_failed",
  "generation_failed",
  "empty_completion",
  "empty_generation",
  "search_failed",
  "status_check_failed",
  "service_unavailable"
]

describe("the API's list of error codes", () => {
  it("has a case for every code", () => {
    assert.deepStrictEqual(
      cases.map(({ code }) => code),
      listed
    )
  })

  for (const { charged, code, of, status } of cases) {
    it.live(`includes ${code} with status ${status}`, () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, inferenceKey } = yield* service.account()
        const before = yield* service.balance(account.id)
        const spentBefore = code === "internal_error"
        const response = yield* of({ service, key: inferenceKey })
        const body = yield* json(response)
        assert.deepStrictEqual([response.status, body.error.code], [status, code])
        assert.match(body.error.message, /\w/)
        assert.match(response.headers.get("x-request-id") ?? "", /^req_/)
        if (charged !== true && !spentBefore) assert.deepStrictEqual(yield* service.balance(account.id), before)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
    )
  }
})
