import { assert, describe, it } from "@effect/vitest"
import { Context, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { makeMetrics, type Metrics, providerName } from "../../../src/platform/telemetry/Metrics.ts"

const textOf = (metrics: Metrics) =>
  PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, metrics.registry))

/** The value of one line of the text. */
const valueOf = (metrics: Metrics, line: string): number | undefined => {
  const found = textOf(metrics)
    .split("\n")
    .find((one) => one.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}

const request = {
  operation: "chat",
  provider: "xai",
  model: "grok-4",
  errorType: undefined,
  totalMs: 1_500,
  overheadMs: 3,
  firstTokenMs: 500,
  tokens: { input: 100, output: 11 },
  settled: 2_000n,
  absorbed: 5n,
  providerCost: 1_500n
}

const genAi = 'gen_ai_operation_name="chat",gen_ai_provider_name="x_ai",gen_ai_request_model="grok-4"'

describe("metrics", () => {
  it("count a paid request under the conventions' names, by provider and model", () => {
    const metrics = makeMetrics()
    metrics.request(request)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_request_duration_sum{${genAi}}`), 1.5)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_request_duration_bucket{${genAi},le="1.28"}`), 0)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_request_duration_bucket{${genAi},le="2.56"}`), 1)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_time_to_first_token_sum{${genAi}}`), 0.5)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_time_per_output_token_sum{${genAi}}`), 0.1)
    assert.strictEqual(valueOf(metrics, `gen_ai_client_token_usage_sum{${genAi},gen_ai_token_type="input"}`), 100)
    assert.strictEqual(valueOf(metrics, `gen_ai_client_token_usage_sum{${genAi},gen_ai_token_type="output"}`), 11)
    assert.strictEqual(valueOf(metrics, "svc_gateway_overhead_sum"), 0.003)
    assert.strictEqual(valueOf(metrics, "svc_ledger_settled"), 2_000)
    assert.strictEqual(valueOf(metrics, "svc_ledger_absorbed"), 5)
    assert.strictEqual(valueOf(metrics, 'svc_provider_cost{gen_ai_provider_name="x_ai"}'), 1_500)
  })

  it("count a request that no provider served by its error, without tokens", () => {
    const metrics = makeMetrics()
    metrics.request({ ...request, provider: undefined, errorType: "UpstreamError", firstTokenMs: null, settled: 0n })
    const labels = genAi.replace("x_ai", "none")
    assert.strictEqual(
      valueOf(metrics, `gen_ai_server_request_duration_count{${labels},error_type="UpstreamError"}`),
      1
    )
    assert.notInclude(textOf(metrics), "gen_ai_client_token_usage")
  })

  it("count other work by operation, without tokens when none are charged", () => {
    const metrics = makeMetrics()
    metrics.request({ ...request, operation: "image_generation", firstTokenMs: null, tokens: undefined })
    const images = genAi.replace("chat", "image_generation")
    assert.strictEqual(valueOf(metrics, `gen_ai_server_request_duration_count{${images}}`), 1)
    assert.notInclude(textOf(metrics), "gen_ai_client_token_usage")
    assert.notInclude(textOf(metrics), genAi)
  })

  it("record a time per output token only for streams with more than one token", () => {
    const metrics = makeMetrics()
    metrics.request({ ...request, tokens: { input: 100, output: 1 } })
    metrics.request({ ...request, firstTokenMs: null })
    assert.strictEqual(valueOf(metrics, `gen_ai_server_time_per_output_token_count{${genAi}}`), 0)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_time_to_first_token_count{${genAi}}`), 1)
  })

  it("count attempts by outcome", () => {
    const metrics = makeMetrics()
    const attempt = { operation: "chat", provider: "xai", model: "grok-4", durationMs: 10 }
    metrics.attempt({ ...attempt, outcome: "failed", errorType: "TimedOut" })
    metrics.attempt({ ...attempt, outcome: "served", errorType: undefined })
    metrics.attempt({ ...attempt, outcome: "served", errorType: undefined })
    assert.strictEqual(valueOf(metrics, 'svc_provider_attempts{gen_ai_provider_name="x_ai",svc_outcome="served"}'), 2)
    assert.strictEqual(valueOf(metrics, `gen_ai_client_operation_duration_count{${genAi},error_type="TimedOut"}`), 1)
    // A value on a boundary belongs below it.
    assert.strictEqual(valueOf(metrics, `gen_ai_client_operation_duration_bucket{${genAi},le="0.01"}`), 2)
    metrics.attempt({ ...attempt, operation: "embeddings", outcome: "served", errorType: undefined })
    const embeddings = genAi.replace("chat", "embeddings")
    assert.strictEqual(valueOf(metrics, `gen_ai_client_operation_duration_count{${embeddings}}`), 1)
  })

  it("count the events of a failing provider, starting at zero", () => {
    const metrics = makeMetrics()
    metrics.provider.met("xai", "grok-4")
    const provider = 'gen_ai_provider_name="x_ai"'
    const opened = `svc_provider_breaker_transitions{${provider},gen_ai_request_model="grok-4",svc_breaker_state="open"}`
    const names = ["passed_over", "retries"].map((name) => `svc_provider_${name}{${provider}}`)
    const lines = [opened, ...names, `svc_provider_hedges{${provider},svc_outcome="won"}`]
    assert.deepStrictEqual(
      lines.map((line) => valueOf(metrics, line)),
      [0, 0, 0, 0]
    )
    metrics.provider.breaker("xai", "grok-4", "open")
    metrics.provider.passedOver("xai")
    metrics.provider.retried("xai")
    metrics.provider.hedged("xai", "won")
    assert.deepStrictEqual(
      lines.map((line) => valueOf(metrics, line)),
      [1, 1, 1, 1]
    )
  })

  it("report running requests and open holds", () => {
    const metrics = makeMetrics()
    metrics.http.arrived()
    metrics.http.arrived()
    metrics.http.left(404)
    metrics.ledger.held("admitted")
    metrics.ledger.held("refused")
    assert.strictEqual(valueOf(metrics, "http_server_active_requests"), 1)
    assert.strictEqual(valueOf(metrics, 'svc_http_requests{http_response_status_class="4xx"}'), 1)
    assert.strictEqual(valueOf(metrics, "svc_ledger_holds_open"), 1)
    metrics.http.left(0)
    metrics.ledger.closed()
    assert.strictEqual(valueOf(metrics, "http_server_active_requests"), 0)
    assert.strictEqual(valueOf(metrics, 'svc_http_requests{http_response_status_class="none"}'), 1)
    assert.strictEqual(valueOf(metrics, "svc_ledger_holds_open"), 0)
    assert.strictEqual(valueOf(metrics, 'svc_ledger_holds{svc_outcome="refused"}'), 1)
  })

  it("count what limits refuse and how webhooks end, starting at zero", () => {
    const metrics = makeMetrics()
    const refused = 'svc_ratelimit_requests{svc_limit="chat",svc_outcome="refused"}'
    metrics.limits.counted("chat", true)
    metrics.limits.counted("chat", false)
    assert.strictEqual(valueOf(metrics, refused), 1)
    assert.strictEqual(valueOf(metrics, "svc_ratelimit_shared"), 0)
    let up = true
    metrics.limits.sharedWhile(() => up)
    assert.strictEqual(valueOf(metrics, "svc_ratelimit_shared"), 1)
    up = false
    assert.strictEqual(valueOf(metrics, "svc_ratelimit_shared"), 0)
    const gone = 'svc_webhook_attempts{svc_outcome="gone"}'
    assert.strictEqual(valueOf(metrics, gone), 0)
    metrics.webhooks.attempted("Gone")
    assert.strictEqual(valueOf(metrics, gone), 1)
  })

  it("count the ledger's groups, and read gauges at export", () => {
    const metrics = makeMetrics()
    metrics.ledger.committed(5, 2)
    metrics.ledger.admitted(4)
    metrics.ledger.settled(8)
    assert.strictEqual(valueOf(metrics, "svc_ledger_hold_duration_sum"), 0.004)
    assert.strictEqual(valueOf(metrics, "svc_ledger_settle_duration_sum"), 0.008)
    assert.strictEqual(valueOf(metrics, 'svc_ledger_group_size_bucket{le="4"}'), 0)
    assert.strictEqual(valueOf(metrics, 'svc_ledger_group_size_bucket{le="8"}'), 1)
    assert.strictEqual(valueOf(metrics, "svc_ledger_commit_duration_sum"), 0.002)
    let value = 1
    metrics.gauge("test.gauge", "of a test", "1", () => value)
    value = 7
    assert.strictEqual(valueOf(metrics, "test_gauge"), 7)
  })

  it("are numbers before any event", () => {
    const context = Context.make(Metric.MetricRegistry, makeMetrics().registry)
    const histograms = Metric.snapshotUnsafe(context).filter(({ type }) => type === "Histogram")
    assert.isNotEmpty(histograms)
    for (const { id, state } of histograms) {
      const { max, min } = state as { readonly max: number; readonly min: number }
      assert.isTrue(Number.isFinite(min) && Number.isFinite(max), id)
    }
  })

  it("are separate for each service", () => {
    const [one, other] = [makeMetrics(), makeMetrics()]
    one.http.left(200)
    assert.isUndefined(valueOf(other, 'svc_http_requests{http_response_status_class="2xx"}'))
  })
})

it("providers have the conventions' names where these define one", () => {
  assert.deepStrictEqual(["openai", "bedrock", "gemini", "my-host"].map(providerName), [
    "openai",
    "aws.bedrock",
    "gcp.gemini",
    "my-host"
  ])
})
