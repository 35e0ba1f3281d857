import { assert, describe, it } from "@effect/vitest"
import { jsonIn, verdictOf } from "../../../src/providers/structured/StructuredVerdict.ts"

const fence = "```"

describe("the JSON in a text", () => {
  const found: ReadonlyArray<readonly [string, string, string]> = [
    ["the complete text", ' \n{"a": 1.0}\n', '{"a": 1.0}'],
    ["the complete text after a byte order mark", '\uFEFF{"a":1}', '{"a":1}'],
    ["a value that is not an object", "[1]", "[1]"],
    ["a string", '"yes"', '"yes"'],
    ["the content of a fence", `${fence}json\n{"a":1}\n${fence}`, '{"a":1}'],
    ["the content of a fence without a language", `${fence}\n[1]\n${fence}`, "[1]"],
    ["the content of a fence on one line", `${fence}{"a":1}${fence}`, '{"a":1}'],
    ["a number in a fence between words", `It is:\n${fence}JSON\n7\n${fence}\nas asked.`, "7"],
    ["a value with a fence in a string", `${fence}json\n{"a":"${fence}"}\n${fence}`, `{"a":"${fence}"}`],
    ["an object between words", 'Sure! {"a":{"b":[1]}} Anything else?', '{"a":{"b":[1]}}'],
    ["a list between words", "Here: [1, 2].", "[1, 2]"],
    ["the last of two values", '{"a":1} {"a":2}', '{"a":2}'],
    ["the last of two values between words", 'First {"a":1}, but "{" and \'}\' aside: {"a":"}\\""}.', '{"a":"}\\""}'],
    ["the value after brackets that are not JSON", '[draft] {"a":1}', '{"a":1}'],
    ["the value after thoughts", '<think>Is it {"a":1}? Or {</think>\n{"a":2}', '{"a":2}'],
    ["the content of a fence after thoughts", `<think>\n{}</think>${fence}json\n[2]\n${fence}`, "[2]"]
  ]
  for (const [name, text, json] of found) it(`is ${name}`, () => assert.strictEqual(jsonIn(text), json))

  const none: ReadonlyArray<readonly [string, string]> = [
    ["an empty text", ""],
    ["plain words", "I cannot say."],
    ["a number between words", "It is 7."],
    ["truncated JSON", '{"a":'],
    ["two fences", `${fence}json\n1\n${fence}\nor\n${fence}json\n2\n${fence}`],
    ["an unclosed fence with a number", `${fence}json\n1`],
    ["reversed brackets", "] {"]
  ]
  for (const [name, text] of none) it(`is not in ${name}`, () => assert.isUndefined(jsonIn(text)))
})

describe("a verdict", () => {
  const failing: ReadonlyArray<readonly [string, object, unknown, string]> = [
    ["type", { type: "object" }, [], "#: type"],
    ["several types", { type: ["string", "null"] }, 1, "#: type"],
    ["integer", { properties: { a: { type: "integer" } } }, { a: 1.5 }, "#/a: type"],
    ["required", { required: ["a"] }, {}, "#: required"],
    ["enum", { properties: { a: { enum: ["x", "y"] } } }, { a: "z" }, "#/a: enum"],
    ["const", { const: 1 }, 2, "#: const"],
    [
      "additionalProperties",
      { properties: { a: {} }, additionalProperties: false },
      { a: 1, said: 2 },
      "#: additionalProperties"
    ],
    ["items", { items: { type: "string" } }, ["a", 1], "#/1: type"],
    ["prefixItems", { prefixItems: [{ type: "string" }] }, [1], "#/0: type"],
    ["items as a list, from older drafts", { items: [{ type: "string" }] }, [1], "#/0: type"],
    ["minItems", { minItems: 2 }, [1], "#: minItems"],
    ["maxItems", { maxItems: 0 }, [1], "#: maxItems"],
    ["uniqueItems", { uniqueItems: true }, [1, 1], "#: uniqueItems"],
    ["minimum", { minimum: 2 }, 1, "#: minimum"],
    ["exclusiveMaximum", { exclusiveMaximum: 2 }, 2, "#: exclusiveMaximum"],
    ["multipleOf", { multipleOf: 0.1 }, 0.25, "#: multipleOf"],
    ["minLength", { minLength: 2 }, "a", "#: minLength"],
    ["maxLength", { maxLength: 2 }, "abc", "#: maxLength"],
    ["pattern", { pattern: "^a" }, "b", "#: pattern"],
    ["format", { format: "date" }, "today", "#: format"],
    ["anyOf", { anyOf: [{ type: "string" }, { type: "null" }] }, 1, "#: anyOf"],
    ["oneOf", { oneOf: [{ type: "number" }, { minimum: 0 }] }, 1, "#: oneOf"],
    ["allOf", { allOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: 1 }, "#: required"],
    ["not", { not: { type: "string" } }, "a", "#: not"],
    ["if, then", { if: { required: ["a"] }, then: { required: ["b"] } }, { a: 1 }, "#: required"],
    ["$ref into $defs", { $ref: "#/$defs/a", $defs: { a: { type: "string" } } }, 1, "#: type"],
    [
      "$ref into definitions, from draft 7",
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        properties: { a: { $ref: "#/definitions/a", type: "number" } },
        definitions: { a: { type: "string" } }
      },
      { a: 1 },
      "#/a: type"
    ],
    [
      "a recursive schema",
      { type: "object", properties: { next: { $ref: "#" } }, additionalProperties: false },
      { next: { next: { last: 1 } } },
      "#/next/next: additionalProperties"
    ]
  ]
  for (const [name, schema, value, detail] of failing) {
    it(`fails on ${name}`, () =>
      assert.deepStrictEqual(verdictOf({ schema: { ...schema }, text: JSON.stringify(value) }), {
        _tag: "Fails",
        detail
      }))
  }

  it("returns a valid answer as it was written", () => {
    const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] }
    const json = '{"a": 1.50, "b": [12345678901234567890]}'
    assert.deepStrictEqual(verdictOf({ schema, text: `Here: ${json}` }), { _tag: "Meets", json })
  })

  it("rejects text that is not one JSON value", () => {
    const detail = "the answer is not one JSON value"
    assert.deepStrictEqual(verdictOf({ schema: {}, text: "SECRET" }), { _tag: "Fails", detail })
  })

  it("contains only a path of limited length", () => {
    const schema = { additionalProperties: { type: "string" } }
    const text = JSON.stringify({ a: "x", ["n".repeat(5_000)]: { deep: "SECRET" } })
    const verdict = verdictOf({ schema, text })
    assert.deepStrictEqual(verdict, { _tag: "Fails", detail: "#: additionalProperties" })
    const far = { type: "array", items: { items: { items: { type: "string" } } } }
    const long = { $ref: "#/$defs/a", $defs: { a: { properties: { ["k".repeat(500)]: { type: "string" } } } } }
    assert.deepStrictEqual(verdictOf({ schema: far, text: '[[["SECRET"]]]' })._tag, "Meets")
    const cut = verdictOf({ schema: long, text: JSON.stringify({ ["k".repeat(500)]: 1 }) })
    assert.isTrue(cut._tag === "Fails" && cut.detail.length < 200 && cut.detail.endsWith("…: type"))
  })

  it("rejects extremely deep nesting", () => {
    const schema = { items: { $ref: "#" } }
    const text = `${"[".repeat(50_000)}${"]".repeat(50_000)}`
    assert.strictEqual(verdictOf({ schema, text })._tag, "Fails")
  })

  const unfit: ReadonlyArray<readonly [string, object, string]> = [
    [
      "a $ref without a target",
      { properties: { a: { $ref: "#/$defs/a" } } },
      "a `$ref` must have a target in the schema"
    ],
    ["a $ref to another document", { $ref: "https://example.com/schema" }, "a `$ref` must have a target in the schema"],
    ["a $ref only to itself", { $ref: "#" }, "the schema is not valid JSON Schema"],
    ["an invalid pattern", { properties: { a: { pattern: "(" } } }, "each `pattern` must be a regular expression"],
    [
      "an invalid pattern for a name",
      { patternProperties: { "[": {} } },
      "each `pattern` must be a regular expression"
    ],
    ["a keyword of the wrong type", { anyOf: 1 }, "`anyOf` must be a list of schemas"],
    ["a schema that no answer meets", { not: {} }, "`not` must not exclude every answer"],
    ["a $ref of the wrong type", { $ref: {} }, "a `$ref` must have a target in the schema"]
  ]
  for (const [name, schema, detail] of unfit) {
    it(`reports ${name} as uncheckable, before there is an answer`, () =>
      assert.deepStrictEqual(verdictOf({ schema: { ...schema }, text: undefined }), { _tag: "Uncheckable", detail }))
  }

  it("checks patterns with needless escapes, and ignores patterns that do not compile", () => {
    const of = (pattern: string, text: string) => verdictOf({ schema: { pattern }, text: JSON.stringify(text) })._tag
    assert.strictEqual(of(String.raw`^[a-z\_]+\@$`, "a_b@"), "Meets")
    assert.strictEqual(of(String.raw`^[a-z\_]+\@$`, "A"), "Fails")
    assert.strictEqual(of(String.raw`^a\-b$`, "c"), "Meets")
  })

  it("does not modify the schema", () => {
    const schema = { $ref: "#/$defs/a", $defs: { a: { type: "string" } } }
    verdictOf({ schema, text: '"a"' })
    assert.deepStrictEqual(Object.getOwnPropertyNames(schema), ["$ref", "$defs"])
  })
})
