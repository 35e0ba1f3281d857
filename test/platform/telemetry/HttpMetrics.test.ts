import { assert, describe, it } from "@effect/vitest"
import { makeMetrics } from "../../../src/platform/telemetry/Metrics.ts"
import { ended, valueOf } from "../../support/Metrics.ts"

describe("HTTP metrics", () => {
  it("count requests in progress, and ended requests by class of status", () => {
    const metrics = makeMetrics()
    metrics.http.arrived()
    metrics.http.arrived()
    metrics.http.left(ended(404))
    assert.strictEqual(valueOf(metrics, "http_server_active_requests"), 1)
    assert.strictEqual(valueOf(metrics, 'svc_http_requests{http_response_status_class="4xx"}'), 1)
    metrics.http.left(ended(0))
    assert.strictEqual(valueOf(metrics, "http_server_active_requests"), 0)
    assert.strictEqual(valueOf(metrics, 'svc_http_requests{http_response_status_class="none"}'), 1)
    assert.deepStrictEqual(metrics.http.seen(), { count: 2, inFlight: 0 })
  })

  it("record durations by method, route, status and error code", () => {
    const metrics = makeMetrics()
    const failed = { ...ended(402), method: "POST", route: "/api/v1/chat/completions", durationMs: 30 }
    metrics.http.left({ ...failed, error: "insufficient_credits" })
    const labels =
      'http_request_method="POST",http_route="/api/v1/chat/completions",http_response_status_code="402",error_type="insufficient_credits"'
    assert.strictEqual(valueOf(metrics, `http_server_request_duration_sum{${labels}}`), 0.03)
    assert.strictEqual(valueOf(metrics, `http_server_request_duration_bucket{${labels},le="0.025"}`), 0)
    assert.strictEqual(valueOf(metrics, `http_server_request_duration_bucket{${labels},le="0.05"}`), 1)
    metrics.http.left({ ...ended(0), route: undefined })
    assert.strictEqual(valueOf(metrics, 'http_server_request_duration_count{http_request_method="GET"}'), 1)
  })
})
