import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { cacheOptionsOf, changedOptionsOf } from "../../../src/http/handlers/CacheControl.ts"

/** Node's names of headers. */
const lower = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const options = (headers: Record<string, string>) => Result.getOrThrow(cacheOptionsOf(lower(headers)))

const param = (headers: Record<string, string>) => {
  const refused = cacheOptionsOf(lower(headers))
  if (Result.isSuccess(refused) || refused.failure.reason._tag !== "ValidationError") assert.fail("was taken")
  return refused.failure.reason.problems[0].field
}

describe("the cache options of a request", () => {
  it("default to a cache lifetime of five minutes", () => {
    for (const headers of [{}, { "X-Svc-Cache": "true" }, { "Cache-Control": "no-cache, max-age=0" }]) {
      assert.deepStrictEqual(options(headers), { use: true, lifeSeconds: 300 })
    }
  })

  it("bypass the cache when either header says so", () => {
    const told = [{ "X-Svc-Cache": "false" }, { "X-Svc-Cache": " FALSE " }, { "Cache-Control": "private, No-Store" }]
    for (const headers of told) assert.isFalse(options(headers).use)
    assert.isFalse(options({ "X-Svc-Cache": "true", "Cache-Control": "no-store" }).use)
  })

  it("accept a lifetime of a second to an hour", () => {
    for (const [text, seconds] of [
      ["1", 1],
      [" 60 ", 60],
      ["3600", 3_600]
    ] as const) {
      assert.strictEqual(options({ "X-Svc-Cache-TTL": text }).lifeSeconds, seconds)
    }
    for (const text of ["", "0", "-1", "1.5", "1e3", "3601", "9999999999", "soon"]) {
      assert.strictEqual(param({ "X-Svc-Cache-TTL": text }), "X-Svc-Cache-TTL", text)
    }
  })

  it("change the fingerprint only when they differ from the defaults", () => {
    assert.isUndefined(changedOptionsOf(options({ "X-Svc-Cache": "true", "X-Svc-Cache-TTL": "300" })))
    assert.deepStrictEqual(changedOptionsOf(options({ "X-Svc-Cache-TTL": "9" })), { lifeSeconds: 9 })
    const without = { use: false }
    assert.deepStrictEqual(changedOptionsOf(options({ "Cache-Control": "no-store", "X-Svc-Cache-TTL": "9" })), without)
    assert.deepStrictEqual(changedOptionsOf(options({ "X-Svc-Cache": "false" })), without)
  })

  it("are rejected when invalid", () => {
    for (const text of ["", "1", "yes", "true, false"])
      assert.strictEqual(param({ "X-Svc-Cache": text }), "X-Svc-Cache")
  })
})
