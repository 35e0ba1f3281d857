import { assert, describe, it } from "@effect/vitest"
import { makeMetrics } from "../../../src/platform/telemetry/Metrics.ts"
import { providerName } from "../../../src/platform/telemetry/ProviderMetrics.ts"
import { valueOf } from "../../support/Metrics.ts"

const genAi = 'gen_ai_operation_name="chat",gen_ai_provider_name="x_ai",gen_ai_request_model="grok-4"'

describe("provider metrics", () => {
  it("count attempts by outcome", () => {
    const metrics = makeMetrics()
    const attempt = { operation: "chat", provider: "xai", model: "grok-4", durationMs: 10 }
    metrics.attempt({ ...attempt, outcome: "failed", errorType: "TimedOut" })
    metrics.attempt({ ...attempt, outcome: "served", errorType: undefined })
    metrics.attempt({ ...attempt, outcome: "served", errorType: undefined })
    assert.strictEqual(valueOf(metrics, 'svc_provider_attempts{gen_ai_provider_name="x_ai",svc_outcome="served"}'), 2)
    assert.strictEqual(valueOf(metrics, `gen_ai_client_operation_duration_count{${genAi},error_type="TimedOut"}`), 1)
    // An observation on a boundary belongs to the bucket below it.
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
    metrics.provider.recovered("xai", 3_000)
    assert.strictEqual(valueOf(metrics, `svc_provider_breaker_open_duration_sum{${provider}}`), 3)
    assert.deepStrictEqual(
      lines.map((line) => valueOf(metrics, line)),
      [1, 1, 1, 1]
    )
  })
})

it("providerName returns OpenTelemetry's name of a provider if there is one", () => {
  assert.deepStrictEqual(["openai", "bedrock", "gemini", "my-host"].map(providerName), [
    "openai",
    "aws.bedrock",
    "gcp.gemini",
    "my-host"
  ])
})
