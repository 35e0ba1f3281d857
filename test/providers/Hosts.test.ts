import { assert, describe, it } from "@effect/vitest"
import { Context, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { makeMetrics } from "../../src/platform/telemetry/Metrics.ts"
import { rules } from "../../src/providers/pool/Breaker.ts"
import { makeHosts, failureWeightOf } from "../../src/providers/Hosts.ts"
import type { ProviderFault } from "../../src/providers/ProviderError.ts"
import type { Clocks } from "../../src/providers/pool/AnswerClock.ts"
import { makeSandbox } from "../../src/providers/sandbox/Sandbox.ts"

const service: Clocks = { connectMs: 10_000, firstTokenMs: 120_000, idleMs: 60_000, totalMs: 600_000 }

describe("the effect of a fault on a provider's breaker", () => {
  const cases: ReadonlyArray<readonly [string, ProviderFault | undefined, object | undefined]> = [
    ["an empty answer", undefined, undefined],
    ["no connection", { _tag: "Unreachable", detail: "X" }, {}],
    ["a server error", { _tag: "ServerError", status: 500, detail: "X" }, {}],
    ["a malformed answer", { _tag: "Malformed", detail: "X" }, {}],
    ["a model's malformed tool call", { _tag: "Malformed", detail: "X", ofModel: true }, undefined],
    ["a lost connection", { _tag: "Broken", detail: "X" }, {}],
    ["a rate limit", { _tag: "RateLimited", retryAfterSeconds: undefined }, {}],
    ["a rate limit with a pause", { _tag: "RateLimited", retryAfterSeconds: 3 }, { pauseMs: 3_000 }],
    [
      "an outage with a pause",
      { _tag: "ServerError", status: 503, detail: "X", retryAfterSeconds: 2 },
      { pauseMs: 2_000 }
    ],
    ["an invalid key", { _tag: "Unauthorized", status: 401 }, { atOnce: true }],
    ["an account without credit", { _tag: "Unauthorized", status: 402 }, { atOnce: true }],
    ["a forbidden request", { _tag: "Unauthorized", status: 403 }, { inShareOnly: true }],
    ["a lost answer", { _tag: "Lost", detail: "X" }, { inShareOnly: true }],
    ["an answer that the gateway lost", { _tag: "Lost", detail: "X", ours: true }, undefined],
    ["a stream that its reader delayed", { _tag: "TimedOut", clock: "total", held: true }, undefined],
    ["a refused request", { _tag: "Refused", status: 400, detail: "X" }, undefined],
    ["an answer off the caller's schema", { _tag: "OffSchema", detail: "X" }, undefined]
  ]
  for (const [name, fault, how] of cases) {
    it(`is ${how === undefined ? "undefined" : JSON.stringify(how)} for ${name}`, () =>
      assert.deepStrictEqual(failureWeightOf(fault, service, service), how))
  }

  it("is undefined when the caller's limit was shorter than the gateway's", () => {
    const late = (clock: "connect" | "first_token" | "idle" | "total"): ProviderFault => ({ _tag: "TimedOut", clock })
    const given = { connectMs: 9_999, firstTokenMs: 119_999, idleMs: 60_000, totalMs: 599_999 }
    for (const clock of ["connect", "first_token", "total"] as const) {
      assert.deepStrictEqual(failureWeightOf(late(clock), service, service), {})
      assert.isUndefined(failureWeightOf(late(clock), given, service))
    }
    assert.deepStrictEqual(failureWeightOf(late("idle"), given, service), {})
    assert.isUndefined(failureWeightOf({ _tag: "Lost", detail: "X" }, given, service))
    assert.deepStrictEqual(failureWeightOf(late("first_token"), { ...given, firstTokenMs: 120_000 }, service), {})
  })
})

describe("hosts", () => {
  it("have a breaker for each model, and count its transitions", () => {
    const metrics = makeMetrics()
    const hosts = makeHosts([makeSandbox("a"), makeSandbox("b")], metrics)
    const [one, other] = [hosts.get("a")!.breakerOf("model-1"), hosts.get("a")!.breakerOf("model-2")]
    assert.strictEqual(hosts.get("a")!.breakerOf("model-1"), one)
    const text = () => PrometheusMetrics.formatUnsafe(Context.make(Metric.MetricRegistry, metrics.registry)).split("\n")
    one.failed(one.admit(0)!, 0, 0, { atOnce: true })
    other.failed(other.admit(0)!, 0, 0, { atOnce: true })
    assert.include(text(), 'svc_provider_breakers_open{gen_ai_provider_name="a"} 2')
    one.answered(one.admit(rules.longestOpenMs)!, rules.longestOpenMs)
    assert.include(text(), 'svc_provider_breakers_open{gen_ai_provider_name="a"} 1')
    assert.include(text(), 'svc_provider_breakers_open{gen_ai_provider_name="b"} 0')
    const labels = (state: string) =>
      `{gen_ai_provider_name="a",gen_ai_request_model="model-1",svc_breaker_state="${state}"}`
    for (const state of ["open", "half_open", "closed"]) {
      assert.include(text(), `svc_provider_breaker_transitions${labels(state)} 1`)
    }
    assert.strictEqual(hosts.get("b")!.breakerOf("model-1").state, "closed")
  })
})
