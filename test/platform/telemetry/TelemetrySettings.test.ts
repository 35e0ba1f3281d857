import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Config } from "../../../src/platform/config/Config.ts"

describe("telemetry", () => {
  const telemetry = (variables: Record<string, string>) =>
    Effect.map(Config, (settings) => settings.telemetry).pipe(Effect.provide(Config.layerFrom(variables)))

  it.effect("is not exported without an endpoint, or when switched off", () =>
    Effect.gen(function* () {
      const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" }
      assert.isUndefined((yield* telemetry({})).endpoint)
      assert.strictEqual((yield* telemetry(endpoint)).endpoint?.host, "collector:4318")
      assert.isUndefined((yield* telemetry({ ...endpoint, OTEL_SDK_DISABLED: "true" })).endpoint)
    })
  )

  it.effect("is configured by OpenTelemetry's samplers, protocols and interval", () =>
    Effect.gen(function* () {
      const usual = yield* telemetry({})
      assert.deepStrictEqual(
        [usual.sampler, usual.sampledRatio, usual.protocol, usual.metricIntervalMs],
        ["parentbased_always_on", 1, "http/protobuf", 60_000]
      )
      const own = yield* telemetry({
        OTEL_TRACES_SAMPLER: "traceidratio",
        OTEL_TRACES_SAMPLER_ARG: "0.25",
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_METRIC_EXPORT_INTERVAL: "5000"
      })
      assert.deepStrictEqual(
        [own.sampler, own.sampledRatio, own.protocol, own.metricIntervalMs],
        ["traceidratio", 0.25, "http/json", 5_000]
      )
    })
  )

  it.effect("is configured by OpenTelemetry's pairs, whose headers are redacted", () =>
    Effect.gen(function* () {
      const { headers, resource, serviceName } = yield* telemetry({
        OTEL_EXPORTER_OTLP_HEADERS: " Authorization = Basic%20aGVsbG8= ,x=1",
        OTEL_RESOURCE_ATTRIBUTES: "service.name=gate,deployment.environment=a%2Cb=c,"
      })
      assert.deepStrictEqual(Redacted.value(headers), { Authorization: "Basic aGVsbG8=", x: "1" })
      assert.notInclude(JSON.stringify(headers), "aGVsbG8")
      assert.deepStrictEqual(resource, { "service.name": "gate", "deployment.environment": "a,b=c" })
      assert.strictEqual(serviceName, "gate")
      const both = { OTEL_SERVICE_NAME: "own", OTEL_RESOURCE_ATTRIBUTES: "service.name=gate" }
      assert.strictEqual((yield* telemetry(both)).serviceName, "own")
    })
  )
})
