import { assert, describe, it } from "@effect/vitest"
import { Context, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { makeMetrics } from "../../src/platform/telemetry/Metrics.ts"
import { rules } from "../../src/providers/pool/Breaker.ts"
import { makeHosts, weigh } from "../../src/providers/Hosts.ts"
import type { ProviderFault } from "../../src/providers/ProviderError.ts"
import type { Clocks } from "../../src/providers/pool/AnswerClock.ts"
import { makeSandbox } from "../../src/providers/sandbox/Sandbox.ts"

const service: Clocks = { connectMs: 10_000, firstTokenMs: 120_000, idleMs: 60_000, totalMs: 600_000 }

describe("what a fault says of a provider's health", () => {
  const cases: ReadonlyArray<readonly [string, ProviderFault | undefined, object | undefined]> = [
    ["an empty answer", undefined, undefined],
    ["no connection", { _tag: "Unreachable", detail: "X" }, {}],
    ["a server error", { _tag: "ServerError", status: 500, detail: "X" }, {}],
    ["nonsense", { _tag: "Malformed", detail: "X" }, {}],
    ["what a model made of the caller's tools", { _tag: "Malformed", detail: "X", ofModel: true }, undefined],
    ["a lost connection", { _tag: "Broken", detail: "X" }, {}],
    ["a limit", { _tag: "RateLimited", retryAfterSeconds: undefined }, {}],
    ["a limit with its end", { _tag: "RateLimited", retryAfterSeconds: 3 }, { pauseMs: 3_000 }],
    [
      "an outage with its end",
      { _tag: "ServerError", status: 503, detail: "X", retryAfterSeconds: 2 },
      { pauseMs: 2_000 }
    ],
    ["a bad key", { _tag: "Unauthorized", status: 401 }, { atOnce: true }],
    ["an account without money", { _tag: "Unauthorized", status: 402 }, { atOnce: true }],
    ["a request that is forbidden", { _tag: "Unauthorized", status: 403 }, { inShareOnly: true }],
    ["work that was done and is lost", { _tag: "Lost", detail: "X" }, { inShareOnly: true }],
    ["work that was lost by us", { _tag: "Lost", detail: "X", ours: true }, undefined],
    ["a stream that its reader has held up", { _tag: "TimedOut", clock: "total", held: true }, undefined],
    ["a wrong request", { _tag: "Refused", status: 400, detail: "X" }, undefined],
    ["an answer off the caller's schema", { _tag: "OffSchema", detail: "X" }, undefined]
  ]
  for (const [name, fault, how] of cases) {
    it(`${name}: ${how === undefined ? "nothing" : "something"}`, () =>
      assert.deepStrictEqual(weigh(fault, service, service), how))
  }

  it("is nothing when the caller's limit was shorter than the service's", () => {
    const late = (clock: "connect" | "first_token" | "idle" | "total"): ProviderFault => ({ _tag: "TimedOut", clock })
    const given = { connectMs: 9_999, firstTokenMs: 119_999, idleMs: 60_000, totalMs: 599_999 }
    for (const clock of ["connect", "first_token", "total"] as const) {
      assert.deepStrictEqual(weigh(late(clock), service, service), {})
      assert.isUndefined(weigh(late(clock), given, service))
    }
    assert.deepStrictEqual(weigh(late("idle"), given, service), {})
    assert.isUndefined(weigh({ _tag: "Lost", detail: "X" }, given, service))
    assert.deepStrictEqual(weigh(late("first_token"), { ...given, firstTokenMs: 120_000 }, service), {})
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
