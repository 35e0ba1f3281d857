import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { bodyOf } from "../../../src/http/Failures.ts"
import { claimOf } from "../../../src/http/edge/Idempotency.ts"

const PATH = "/api/v1/chat/completions"
const claim = (header: string | undefined, body: unknown = {}, method = "POST", path = PATH) =>
  Result.getOrThrow(claimOf(header, method, path, body))

const fingerprint = (body: unknown, method?: string, path?: string) => claim("k", body, method, path)?.fingerprint

describe("an idempotency key", () => {
  it("is optional", () => {
    assert.isUndefined(claim(undefined))
  })

  it("has the same value with and without quotes", () => {
    for (const header of ["order-7", '"order-7"', ' "order-7" ', " order-7 "]) {
      assert.strictEqual(claim(header)?.idempotencyKey, "order-7", header)
      assert.strictEqual(claim(header)?.claim, claim("order-7")?.claim, header)
    }
  })

  it("loses at most one pair of quotes, and never a single quote", () => {
    assert.strictEqual(claim('""a""')?.idempotencyKey, '"a"')
    assert.strictEqual(claim('"a')?.idempotencyKey, '"a')
    assert.strictEqual(claim('a"')?.idempotencyKey, 'a"')
  })

  it("has 1 to 255 characters within its quotes", () => {
    for (const key of ["k", "k".repeat(255)]) {
      assert.strictEqual(claim(key)?.idempotencyKey, key)
      assert.strictEqual(claim(`"${key}"`)?.idempotencyKey, key)
    }
    for (const [header, count] of [
      ["", 0],
      [" ", 0],
      ['""', 0],
      ["k".repeat(256), 256],
      [`"${"k".repeat(256)}"`, 256]
    ] as const) {
      const result = claimOf(header, "POST", PATH, {})
      assert.isTrue(Result.isFailure(result), header)
      if (Result.isFailure(result)) {
        const { details, error } = bodyOf(result.failure)
        assert.deepStrictEqual([error.code, error.param], ["validation_error", "Idempotency-Key"])
        assert.deepStrictEqual(details, [
          { field: "Idempotency-Key", message: `must have 1 to 255 characters; got ${count}` }
        ])
      }
    }
  })

  it("applies to one method and path", () => {
    const claims = [
      claim("k"),
      claim("k", {}, "PUT"),
      claim("k", {}, "POST", "/api/v1/presets/a/chat/completions"),
      claim("k", {}, "POST", "/api/v1/presets/b/chat/completions")
    ]
    assert.strictEqual(new Set(claims.map((one) => one?.claim)).size, 4)
    assert.strictEqual(claim("k", { a: 1 })?.claim, claim("k", { a: 2 })?.claim)
  })
})

describe("the fingerprint of a request", () => {
  it("ignores the order of members and the spelling of the JSON", () => {
    const one = JSON.parse('{"b":[{"y":1,"x":2}],"a":"\\u00e9"}')
    const other = JSON.parse('{ "a": "é", "b": [ { "x": 2.0, "y": 1e0 } ] }')
    assert.strictEqual(fingerprint(one), fingerprint(other))
  })

  const different: ReadonlyArray<readonly [name: string, one: unknown, other: unknown]> = [
    ["a value", { a: 1 }, { a: 2 }],
    ["a type", { a: 1 }, { a: "1" }],
    ["null and absent", { a: null }, {}],
    ["an empty list and an empty object", { a: [] }, { a: {} }],
    ["the order of a list", { a: [1, 2] }, { a: [2, 1] }],
    ["nesting", { a: { b: 1 }, c: 2 }, { a: { b: 1, c: 2 } }],
    ["streaming", { stream: true }, { stream: false }],
    ["a name that looks like JSON", { 'a":1,"b': 2 }, { a: 1, b: 2 }],
    ["a text that looks like JSON", { a: '1,"b":2' }, { a: 1, b: 2 }]
  ]
  for (const [name, one, other] of different) {
    it(`changes with ${name}`, () => {
      assert.notStrictEqual(fingerprint(one), fingerprint(other))
    })
  }

  it("includes options outside the body", () => {
    const fingerprintWith = (options?: object) =>
      Result.getOrThrow(claimOf("k", "POST", PATH, { a: 1 }, options))?.fingerprint
    assert.strictEqual(fingerprintWith(), fingerprint({ a: 1 }))
    assert.strictEqual(
      new Set([fingerprintWith(), fingerprintWith({ use: false }), fingerprintWith({ lifeSeconds: 9 })]).size,
      3
    )
  })

  it("includes the path", () => {
    assert.notStrictEqual(fingerprint({}, "POST", "/api/v1/presets/a"), fingerprint({}, "POST", "/api/v1/presets/b"))
  })
})
