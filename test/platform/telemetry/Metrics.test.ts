import { assert, describe, it } from "@effect/vitest"
import { Context, Metric } from "effect"
import { makeMetrics } from "../../../src/platform/telemetry/Metrics.ts"
import { ended, textOf, valueOf } from "../../support/Metrics.ts"

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
  it("count a paid request under OpenTelemetry's names, by provider and model", () => {
    const metrics = makeMetrics()
    metrics.request(request)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_request_duration_sum{${genAi}}`), 1.5)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_request_duration_bucket{${genAi},le="1.28"}`), 0)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_request_duration_bucket{${genAi},le="2.56"}`), 1)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_time_to_first_token_sum{${genAi}}`), 0.5)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_time_per_output_token_sum{${genAi}}`), 0.1)
    assert.strictEqual(valueOf(metrics, `svc_stream_output_sum{${genAi}}`), 10)
    assert.strictEqual(valueOf(metrics, `gen_ai_client_token_usage_sum{${genAi},gen_ai_token_type="input"}`), 100)
    assert.strictEqual(valueOf(metrics, `gen_ai_client_token_usage_sum{${genAi},gen_ai_token_type="output"}`), 11)
    assert.strictEqual(valueOf(metrics, "svc_gateway_overhead_sum"), 0.003)
    assert.strictEqual(valueOf(metrics, "svc_ledger_settled"), 2_000)
    assert.strictEqual(valueOf(metrics, "svc_ledger_absorbed"), 5)
    assert.strictEqual(valueOf(metrics, "svc_request_absorbed_sum"), 5)
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

  it("count work other than chat by operation, without tokens when none are charged", () => {
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
    metrics.request({ ...request, firstTokenMs: null, absorbed: 0n })
    assert.strictEqual(valueOf(metrics, `svc_stream_output_count{${genAi}}`), 0)
    assert.strictEqual(valueOf(metrics, "svc_request_absorbed_count"), 1, "only absorbed amounts are counted")
    assert.strictEqual(valueOf(metrics, `gen_ai_server_time_per_output_token_count{${genAi}}`), 0)
    assert.strictEqual(valueOf(metrics, `gen_ai_server_time_to_first_token_count{${genAi}}`), 1)
  })

  it("report open holds", () => {
    const metrics = makeMetrics()
    metrics.ledger.held("admitted")
    metrics.ledger.held("refused")
    assert.strictEqual(valueOf(metrics, "svc_ledger_holds_open"), 1)
    metrics.ledger.closed()
    assert.strictEqual(valueOf(metrics, "svc_ledger_holds_open"), 0)
    assert.strictEqual(valueOf(metrics, 'svc_ledger_holds{svc_outcome="refused"}'), 1)
  })

  it("count refusals of rate limits and outcomes of webhooks, starting at zero", () => {
    const metrics = makeMetrics()
    const refused = 'svc_ratelimit_requests{svc_limit="chat",svc_outcome="refused"}'
    metrics.limits.counted("chat", true, 1)
    metrics.limits.counted("chat", false, 2)
    assert.strictEqual(valueOf(metrics, refused), 1)
    assert.strictEqual(valueOf(metrics, "svc_ratelimit_duration_sum"), 0.003)
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

  it("record the ledger's groups, and read gauges at export", () => {
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

  it("are finite numbers before any event", () => {
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
    one.http.left(ended(200))
    assert.isUndefined(valueOf(other, 'svc_http_requests{http_response_status_class="2xx"}'))
  })
})
