import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { atMost, between, integer, textOf } from "../../schemas/Bounds.ts"
import { problemsOf, withFoundValue } from "../../src/domain/SchemaProblems.ts"

const CURSOR = "must be 24 hexadecimal characters"

const Body = Schema.Struct({
  limit: Schema.optionalKey(Schema.NullOr(integer(1, 100))),
  count: Schema.optionalKey(integer(1, Number.MAX_SAFE_INTEGER)),
  name: Schema.optionalKey(textOf(1, 4)),
  list: Schema.optionalKey(Schema.Array(Schema.Boolean).check(atMost(2))),
  effort: Schema.optionalKey(Schema.Literals(["low", "high"])),
  content: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
  routing: Schema.optionalKey(Schema.Struct({ strategy: Schema.Literal("cost") })),
  max_tokens: Schema.optionalKey(Schema.Int),
  share: Schema.optionalKey(between(0, 1)),
  change: Schema.optionalKey(
    Schema.Struct({ a: Schema.optionalKey(Schema.Int), b: Schema.optionalKey(Schema.Int) }).check(
      Schema.isMinProperties(1, { message: "must contain at least one of a and b" })
    )
  ),
  api_key: Schema.optionalKey(Schema.Int),
  code: Schema.optionalKey(textOf(6, 6)),
  cursor: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[0-9a-f]{24}$/, { message: CURSOR })))
})
const decode = Schema.decodeUnknownResult(Body, { errors: "all", onExcessProperty: "error" })

const messageFor = (value: unknown, known = true): string => {
  const { issue } = Result.getOrThrow(Result.flip(decode(value)))
  return problemsOf(issue, "body", known ? value : undefined)
    .map(({ field, message }) => `${field} ${message}`)
    .join("; ")
}

describe("the problems of a schema", () => {
  const rows: ReadonlyArray<readonly [object, string]> = [
    [{ limit: 101 }, "limit must be an integer from 1 to 100; got 101"],
    [{ limit: "101" }, 'limit must be an integer from 1 to 100; got "101"'],
    [{ limit: 100.5 }, "limit must be an integer from 1 to 100; got 100.5"],
    [{ limit: Infinity }, "limit must be an integer from 1 to 100; got Infinity"],
    [{ limit: 1.5 }, "limit must be an integer; got 1.5"],
    [{ share: Infinity }, "share must be a number from 0 to 1; got Infinity"],
    [{ change: {} }, "change must contain at least one of a and b; got an empty object"],
    [{ limit: {} }, "limit must be an integer from 1 to 100; got an object"],
    [{ limit: 1e9 }, "limit must be an integer from 1 to 100; got 1,000,000,000"],
    [{ count: 0 }, "count must be an integer of at least 1; got 0"],
    [{ name: "" }, "name must have 1 to 4 characters; got 0"],
    [{ name: "swordfish" }, "name must have 1 to 4 characters; got 9"],
    [{ name: null }, "name must be a string; got null"],
    [{ list: [true, true, true] }, "list must contain at most 2 items; got 3"],
    [{ list: [1] }, "list[0] must be a boolean; got 1"],
    [{ effort: "hgih" }, 'effort must be one of low, high; got "hgih"'],
    [{ content: 5 }, "content must be a string or an array; got 5"],
    [{ routing: {} }, "routing.strategy is required"],
    [{ routing: { strategy: "cost", x: 1 } }, "routing.x is not a known field"]
  ]
  for (const [value, message] of rows) {
    it(`are reported as: ${message}`, () => assert.strictEqual(messageFor(value), message))
  }

  it("of a query name the required type, not the conversion from text", () => {
    const ofQuery = Schema.decodeUnknownResult(Schema.toCodecArrayFromSingle(Body), { errors: "all" })
    const messageOf = (query: object): string => {
      const [{ field, message }] = problemsOf(Result.getOrThrow(Result.flip(ofQuery(query))).issue, "query", query)
      return `${field} ${message}`
    }
    assert.strictEqual(messageOf({ limit: "abc" }), 'limit must be an integer from 1 to 100; got "abc"')
    assert.strictEqual(messageOf({ list: "maybe" }), 'list[0] must be a boolean; got "maybe"')
    assert.strictEqual(messageOf({ effort: "hgih" }), 'effort must be one of low, high; got "hgih"')
    assert.strictEqual(messageOf({ cursor: "zz" }), `cursor ${CURSOR}`)
  })

  it("name the whole value when it has the wrong type", () => {
    assert.strictEqual(messageFor([]), "body must be an object; got an array")
    assert.strictEqual(messageFor("x y"), "body must be an object; got a string")
  })

  it("do not mention a value that is not given", () => {
    assert.strictEqual(messageFor({ limit: 101 }, false), "limit must be an integer from 1 to 100")
  })
})

describe("the value found", () => {
  it("is never a long text, a key or the value of a secret field", () => {
    const long = "a".repeat(41)
    for (const text of [long, "two words", "line\nbreak", "sk-abc123", "svc_sk_abc", "whsec_abc"]) {
      assert.strictEqual(messageFor({ limit: text }), "limit must be an integer from 1 to 100; got a string")
    }
    assert.strictEqual(
      messageFor({ limit: long.slice(1) }).length,
      'limit must be an integer from 1 to 100; got ""'.length + 40
    )
    assert.strictEqual(messageFor({ api_key: "hunter2" }), "api_key must be an integer; got a string")
    assert.strictEqual(messageFor({ api_key: 1.5 }), "api_key must be an integer; got a number")
    assert.strictEqual(messageFor({ code: "12345" }), "code must have 6 characters")
    assert.strictEqual(messageFor({ max_tokens: "many" }), 'max_tokens must be an integer; got "many"')
  })

  it("is appended once, and only to a message that states a requirement", () => {
    assert.strictEqual(withFoundValue("must be 1; got 2", "a", 3), "must be 1; got 2")
    assert.strictEqual(withFoundValue("is required", "a", 3), "is required")
    assert.strictEqual(withFoundValue("must be a URL", "a", "x"), "must be a URL")
    assert.strictEqual(withFoundValue("must be a URL", "a", undefined), "must be a URL")
  })
})
