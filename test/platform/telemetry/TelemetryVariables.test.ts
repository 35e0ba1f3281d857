import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { headerPairs, pairs, providerIds, ratio } from "../../../src/platform/telemetry/TelemetryVariables.ts"

describe("OpenTelemetry's variables", () => {
  it("decode percent-encoded pairs and ignore the spaces and commas around them", () => {
    assert.deepStrictEqual(pairs("").parse(" a=b , c=d%2Ce,, "), { a: "b", c: "d,e" })
    for (const text of ["key", "=v", "a=%zz"]) assert.isUndefined(pairs("").parse(text), text)
  })

  it("redact headers, and reject a line break in a header", () => {
    const headers = headerPairs("").parse("api-key=s3cret")!
    assert.deepStrictEqual([String(headers), Redacted.value(headers)], ["<redacted>", { "api-key": "s3cret" }])
    for (const text of ["a b=c", "a=%0d%0ab"]) assert.isUndefined(headerPairs("").parse(text), text)
  })

  it("accept ratios from 0 to 1, and provider ids", () => {
    assert.deepStrictEqual([ratio("").parse("0.25"), ratio("").parse("1.1")], [0.25, undefined])
    assert.deepStrictEqual(providerIds("").parse("openai, azure"), ["openai", "azure"])
    assert.isUndefined(providerIds("").parse("open ai"))
  })
})
