import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ignoredWithin, firstUnknownMember } from "../../src/dialects/Members.ts"

const A = Schema.Struct({ type: Schema.Literal("a"), n: Schema.optionalKey(Schema.Int) })
const B = Schema.Struct({ type: Schema.Literal("b"), more: Schema.optionalKey(Schema.NullOr(A)) })

const check = firstUnknownMember(
  Schema.Struct({
    one: Schema.optionalKey(Schema.NullOr(A)),
    many: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.Union([A, B]))])),
    free: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    any: Schema.optionalKey(Schema.Unknown),
    either: Schema.optionalKey(Schema.NullOr(Schema.Union([A, B]))),
    plain: Schema.optionalKey(Schema.Struct({ n: Schema.Int })),
    turns: Schema.optionalKey(
      Schema.Array(
        Schema.Union([
          Schema.Struct({ role: Schema.Literal("x"), a: Schema.Int }),
          Schema.Struct({ role: Schema.Literal("y"), b: Schema.Int })
        ])
      )
    )
  }).ast
)

describe("firstUnknownMember", () => {
  it("finds an unknown member at any depth, and names it by its path", () => {
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [{ none: 1 }, "none"],
      [{ one: { type: "a", m: 1 } }, "one.m"],
      [{ plain: { m: {} } }, "plain.m"],
      [{ either: { type: "b", n: 1 } }, "either.n"],
      [{ many: [{ type: "a" }, { type: "b", n: 1 }] }, "many[1].n"],
      [{ many: [{ type: "b", more: { type: "a", x: false } }] }, "many[0].more.x"],
      [{ turns: [{ role: "y", a: 1 }] }, "turns[0].a"]
    ]
    for (const [value, field] of cases) assert.deepStrictEqual(check(value), { field, type: undefined })
  })

  it("finds an unknown `type`", () => {
    assert.deepStrictEqual(check({ many: [{ type: "a" }, { type: "c", x: 1 }] }), { field: "many[1].type", type: "c" })
    assert.deepStrictEqual(check({ one: { type: "b" } }), { field: "one.type", type: "b" })
  })

  it("excludes nulls, members of records, and values that the schema rejects", () => {
    const fine = [
      {},
      { none: null, one: null, many: "words" },
      { free: { x: { y: 1 } }, any: { z: [1] } },
      { many: [{ type: 7, x: 1 }, { x: 1 }, null, "a", [1]] },
      { turns: [{ role: "z", x: 1 }, { x: 1 }] },
      { one: [1], plain: "n", many: { x: 1 } },
      { one: { type: "a", n: "not a number" } }
    ]
    for (const value of fine) assert.isUndefined(check(value), JSON.stringify(value))
    for (const value of [null, 1, "x", [{ none: 1 }]]) assert.isUndefined(check(value))
  })
})

describe("ignoredWithin", () => {
  const Part = Schema.Struct({ type: Schema.Literal("text"), text: Schema.String })
  const Message = Schema.Union([
    Schema.Struct({ role: Schema.Literal("user"), content: Schema.Union([Schema.String, Schema.Array(Part)]) }),
    Schema.Struct({ role: Schema.Literal("tool"), id: Schema.String })
  ])
  const Tool = Schema.Struct({
    function: Schema.Struct({ name: Schema.String, parameters: Schema.Record(Schema.String, Schema.Unknown) })
  })
  const ignored = ignoredWithin(Schema.Struct({ messages: Schema.Array(Message), tools: Schema.Array(Tool) }).ast, [
    "messages",
    "tools"
  ])

  it("names every ignored member, at every depth", () => {
    const part = { type: "text", text: "a", bar: 1 }
    assert.deepStrictEqual(
      ignored({
        messages: [
          { role: "user", content: "a" },
          { role: "tool", id: "a", foo: 1, baz: {} },
          { role: "user", content: [part] }
        ],
        tools: [{ extra: true, function: { name: "f", parameters: { free: 1 }, bar: 1 } }],
        other: 1
      }),
      ["messages[1].foo", "messages[1].baz", "messages[2].content[0].bar", "tools[0].extra", "tools[0].function.bar"]
    )
  })

  it("names at most 32, and neither nulls nor values that the schema rejects", () => {
    const many = Array.from({ length: 100 }, () => ({ role: "user", content: "a", foo: 1 }))
    assert.lengthOf(ignored({ messages: many }), 32)
    assert.isEmpty(
      ignored({ messages: [{ role: "user", content: "a", foo: null }, { role: "nobody", foo: 1 }, 5], tools: "x" })
    )
  })
})
