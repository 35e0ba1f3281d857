/** The output of `/metrics` after real requests, compared with what the docs promise operators. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { Api } from "../../../schemas/Api.ts"
import { type Family, familiesOf } from "../../support/Metrics.ts"
import { receiver, status } from "../../support/Receiver.ts"
import { get, post, startService } from "../../support/Service.ts"
import { eventually } from "../../support/Eventually.ts"

const MODEL = ["gen_ai_provider_name", "gen_ai_request_model"]

/** The required histograms, and the labels that each must have. */
const histograms: ReadonlyArray<readonly [what: string, name: string, labels: ReadonlyArray<string>]> = [
  ["added latency", "svc_gateway_overhead_seconds", []],
  ["hold", "svc_ledger_hold_duration_seconds", []],
  ["settle", "svc_ledger_settle_duration_seconds", []],
  ["time to first token", "gen_ai_server_time_to_first_token_seconds", MODEL],
  ["tokens per second", "svc_stream_output_tokens_per_second", MODEL],
  ["queue", "svc_jobs_wait_duration_seconds", ["svc_queue"]],
  ["breaker", "svc_provider_breaker_open_duration_seconds", ["gen_ai_provider_name"]],
  ["limiter", "svc_ratelimit_duration_seconds", []],
  ["absorbed", "svc_request_absorbed_nano_usd", []],
  ["requests by route and code", "http_server_request_duration_seconds", ["http_route", "http_response_status_code"]],
  ["paid requests", "gen_ai_server_request_duration_seconds", MODEL],
  ["calls of providers", "gen_ai_client_operation_duration_seconds", MODEL]
]

/** Endings that are not base units of OpenMetrics. */
const FOREIGN_UNITS = /_(?:ms|millis|milliseconds|minutes|kb|mb|kilobytes|megabytes|percent)(?:_|$)/

/** The paths of all operations. */
const routes: Array<string> = Object.values(Api.groups).flatMap(({ endpoints }) =>
  (Object.values(endpoints) as ReadonlyArray<HttpApiEndpoint.Top>).map(({ path }) => path)
)

const valuesOf = ({ series }: Family, label: string): ReadonlyArray<string> => [
  ...new Set(series.flatMap(({ labels }) => labels[label] ?? []))
]

/** An answer of a provider that used much more than the request allowed. */
const greedy = JSON.stringify({
  id: "1",
  object: "chat.completion",
  created: 1,
  model: "grok-4.3",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 50_000, total_tokens: 50_005 }
})

/** Sends requests of every kind that the metrics must count, to a provider that first fails and then exceeds its hold. */
const traffic = Effect.gen(function* () {
  const host = yield* receiver(status(500))
  const service = yield* startService({
    OUTBOUND_ALLOW_LOOPBACK: "1",
    SWEEP_INTERVAL: "500 millis",
    XAI_API_KEY: "key",
    XAI_BASE_URL: host.url
  })
  const { inferenceKey } = yield* service.account(50)
  const { inferenceKey: poor } = yield* service.account(0)
  const chat = (key: string, body: object, headers: Record<string, string> = {}) =>
    Effect.flatMap(
      post(
        `${service.api}/chat/completions`,
        key,
        { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }], ...body },
        headers
      ),
      (answer) => Effect.promise(() => answer.text().then(() => answer.status))
    )
  assert.strictEqual(yield* chat(inferenceKey, {}), 200)
  const stream = { stream: true, max_tokens: 40 }
  assert.strictEqual(yield* chat(inferenceKey, stream, { "x-svc-sandbox": "output_tokens=40,chunk_ms=2" }), 200)
  assert.strictEqual(yield* chat(poor, {}), 402)
  assert.strictEqual(yield* chat(inferenceKey, { model: "a-model-of-the-caller" }), 400)
  assert.strictEqual(yield* chat("svc_sk_none", {}), 401)
  yield* get(`${service.api}/a-path-of-the-caller`, inferenceKey)
  yield* get(`${service.api}/requests/an-id-of-the-caller`, inferenceKey)
  const body = { model: "veo-3", prompt: "A kite over the sea", duration: 4, aspect_ratio: "16:9" }
  assert.strictEqual(
    (yield* post(`${service.api}/videos`, inferenceKey, body, { "x-svc-sandbox": "latency_ms=1" })).status,
    200
  )
  const alone = { model: "grok-4.3", max_tokens: 10, provider: { only: ["xai"] } }
  for (let count = 0; count < 6; count++) assert.isAtLeast(yield* chat(inferenceKey, alone), 500)
  host.answerWith(status(200, { "content-type": "application/json" }, greedy))
  yield* eventually(chat(inferenceKey, alone), (answered) => answered === 200)
  const text = Effect.promise(() => fetch(`${service.ops}/metrics`).then((answer) => answer.text()))
  return yield* eventually(text, (found) => /^svc_jobs_wait_duration_seconds_count\{[^}]*\} [1-9]/m.test(found))
})

describe("the metrics of a gateway that served requests", () => {
  it.live("contain every promised histogram with observations and bounded labels", () =>
    Effect.gen(function* () {
      const text = yield* traffic
      const families = familiesOf(text)
      for (const [what, name, labels] of histograms) {
        const family = families.get(name)
        assert.strictEqual(family?.type, "histogram", `${what}: ${name}`)
        const counted = family!.series.filter((one) => one.name === `${name}_count` && one.value > 0)
        assert.isNotEmpty(counted, `${what}: ${name} has measured nothing`)
        for (const label of labels) assert.isNotEmpty(valuesOf(family!, label), `${what}: ${name} by ${label}`)
      }
      // No label contains a value that a caller chose.
      assert.notInclude(text, "of-the-caller")
      const http = families.get("http_server_request_duration_seconds")!
      assert.includeMembers(routes, [...valuesOf(http, "http_route")])
      assert.includeMembers([...valuesOf(http, "http_response_status_code")], ["200", "400", "401", "402", "404"])
      assert.includeMembers(
        [...valuesOf(http, "error_type")],
        ["insufficient_credits", "invalid_api_key", "unknown_model"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("follow OpenMetrics, and contain the version and the id of the process", () =>
    Effect.gen(function* () {
      const service = yield* startService({ OTEL_RESOURCE_ATTRIBUTES: "service.instance.id=node-7" })
      const read = Effect.promise(() => fetch(`${service.ops}/metrics`).then((answer) => answer.text()))
      const families = familiesOf(yield* read)
      assert.isAbove(families.size, 40)
      for (const [name, { type }] of families) {
        assert.strictEqual(name.endsWith("_total"), type === "counter", `${name} is a ${type}`)
        assert.notMatch(name, FOREIGN_UNITS)
      }
      assert.strictEqual(families.get("process_cpu_time_seconds_total")?.type, "counter")
      const [build] = families.get("svc_build_info")!.series
      assert.deepStrictEqual([build!.value, build!.labels["service_instance_id"]], [1, "node-7"])
      assert.match(build!.labels["version"] ?? "", /^\d+\.\d+\.\d+/)
      const cpu = () =>
        Effect.map(read, (text) => familiesOf(text).get("process_cpu_time_seconds_total")!.series[0]!.value)
      const before = yield* cpu()
      yield* eventually(cpu(), (now) => now > before)
    }).pipe(Effect.scoped)
  )
})
