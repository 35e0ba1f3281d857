import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { decodeChat } from "../../src/dialects/chat/ChatDecode.ts"
import { decoder, objectOf, within } from "../../src/dialects/Decode.ts"
import { decodeEmbeddings } from "../../src/dialects/embeddings/EmbeddingsDecode.ts"
import { decodeLegacyChat } from "../../src/dialects/legacy/LegacyDecode.ts"
import { decodeCount, decodeMessages } from "../../src/dialects/messages/MessagesDecode.ts"
import { decodeRerank } from "../../src/dialects/rerank/RerankDecode.ts"
import { decodeResponses } from "../../src/dialects/responses/ResponsesDecode.ts"
import { decodeSpeech } from "../../src/dialects/speech/SpeechDecode.ts"
import { type Failure, failure, type FieldProblem, invalid } from "../../src/domain/Failure.ts"

const Cat = Schema.Struct({ kind: Schema.Literal("cat"), lives: Schema.Int })
const Dog = Schema.Struct({ kind: Schema.Literal("dog"), tricks: Schema.Array(Schema.String) })
const Pets = Schema.Struct({ pets: Schema.Array(Schema.Union([Cat, Dog])), name: Schema.optionalKey(Schema.String) })

const problemsOf = (result: Result.Result<unknown, Failure>): ReadonlyArray<FieldProblem> => {
  if (Result.isSuccess(result) || result.failure.reason._tag !== "ValidationError")
    assert.fail("the decoder did not reject it by field")
  return result.failure.reason.problems
}
const fieldsOf = (result: Result.Result<unknown, Failure>) => problemsOf(result).map(({ field }) => field)

describe("a decoder", () => {
  const decode = decoder(Pets, { strict: true })

  it("returns a valid value unchanged", () => {
    const right = {
      pets: [
        { kind: "cat", lives: 9 },
        { kind: "dog", tricks: [] }
      ]
    }
    assert.deepStrictEqual<unknown>(Result.getOrThrow(decode(right)), right)
  })

  it("names every invalid field by its path", () => {
    const wrong = {
      pets: [
        { kind: "cat", lives: 0.5 },
        { kind: "dog", tricks: ["sit", 1] }
      ],
      name: 5
    }
    assert.deepStrictEqual(fieldsOf(decode(wrong)), ["pets[0].lives", "pets[1].tricks[1]", "name"])
  })

  it("names an invalid discriminator and its possible values", () => {
    const message = "must be one of cat, dog"
    for (const [pet, found] of [
      [{ kind: "fish" }, '; got "fish"'],
      [{}, ""],
      [{ kind: null, lives: 9 }, "; got null"]
    ] as const) {
      assert.deepStrictEqual(problemsOf(decode({ pets: [pet] })), [
        { field: "pets[0].kind", message: `${message}${found}` }
      ])
    }
  })

  it("names the value itself when it is not an object, or when the union has no discriminator", () => {
    for (const pet of ["cat", 1, null, []]) assert.deepStrictEqual(fieldsOf(decode({ pets: [pet] })), ["pets[0]"])
    const either = decoder(Schema.Struct({ a: Schema.Union([Schema.String, Schema.Int]) }), { strict: true })
    assert.deepStrictEqual(fieldsOf(either({ a: {} })), ["a"])
  })

  it("names the whole value when it is not an object", () => {
    assert.deepStrictEqual(fieldsOf(decode("cat")), ["body"])
    assert.deepStrictEqual(fieldsOf(decoder(Pets, { strict: true, whole: "routing" })(null)), ["routing"])
  })

  it("rejects unknown members when it is strict, and drops them otherwise", () => {
    const more = { pets: [{ kind: "cat", lives: 9, mood: "bad" }], colour: "black" }
    assert.sameMembers([...fieldsOf(decode(more))], ["pets[0].mood", "colour"])
    const open = Result.getOrThrow(decoder(Pets, { strict: false })(more))
    assert.deepStrictEqual(open, { pets: [{ kind: "cat", lives: 9 }] })
  })

  it("names at most 32 invalid fields, and only the first one of a large value", () => {
    const cats = (count: number) => ({ pets: Array.from({ length: count }, () => ({ kind: "cat", lives: "x" })) })
    assert.lengthOf(fieldsOf(decode(cats(100))), 32)
    assert.deepStrictEqual(fieldsOf(decode(cats(100_000))), ["pets[0].lives"])
    const unknown = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`m${at}`, at]))
    assert.lengthOf(fieldsOf(decode({ pets: [], ...unknown })), 1)
    const right = { pets: Array.from({ length: 10_000 }, () => ({ kind: "cat" as const, lives: 9 })) }
    assert.deepStrictEqual<unknown>(Result.getOrThrow(decode(right)), right)
  })

  it("rejects a list that is too long, whatever its items are", () => {
    const short = decoder(Schema.Struct({ a: Schema.Array(Schema.Int).check(Schema.isMaxLength(2)) }), { strict: true })
    assert.deepStrictEqual(problemsOf(short({ a: ["x", "y", "z"], b: 1 })), [
      { field: "a", message: "must contain at most 2 items; got 3" }
    ])
    const list = decoder(Schema.Array(Schema.Int).check(Schema.isMaxLength(2)), { strict: true, whole: "list" })
    assert.deepStrictEqual(fieldsOf(list([1, 2, 3])), ["list"])
  })

  it("never repeats a value of more than one word", () => {
    const text = "the swordfish"
    const prompt = {
      pets: [{ kind: text }, { kind: "cat", lives: text }, { kind: "dog", tricks: [[text]] }],
      name: [text]
    }
    assert.notInclude(JSON.stringify(problemsOf(decode(prompt))), "swordfish")
  })
})

describe("within", () => {
  it("prefixes the fields of a validation error with the member", () => {
    const inner = Result.fail(invalid("a[0]", "x", { field: "", message: "y" }))
    assert.deepStrictEqual(problemsOf(within("routing", inner)), [
      { field: "routing.a[0]", message: "x" },
      { field: "routing", message: "y" }
    ])
  })

  it("returns other failures and successes unchanged", () => {
    const other = Result.fail(failure({ _tag: "MissingApiKey" }))
    assert.deepStrictEqual(within("routing", other), other)
    assert.strictEqual(Result.getOrThrow(within("routing", Result.succeed(1))), 1)
  })
})

describe("objectOf", () => {
  it("returns an object, and undefined for null, arrays and anything else", () => {
    assert.deepStrictEqual(objectOf({ a: 1 }), { a: 1 })
    for (const value of [null, undefined, [], "x", 1, true]) assert.isUndefined(objectOf(value))
  })
})

describe("a body without required members", () => {
  const rows: ReadonlyArray<
    readonly [string, (body: unknown) => Result.Result<unknown, Failure>, ReadonlyArray<string>]
  > = [
    ["chat completions", decodeChat, ["model", "messages"]],
    ["messages", decodeMessages, ["model", "messages", "max_tokens"]],
    ["counted messages", decodeCount, ["model", "messages"]],
    ["responses", (body) => decodeResponses(body, undefined), ["model", "input"]],
    ["the legacy chat", decodeLegacyChat, ["model", "messages"]],
    ["embeddings", decodeEmbeddings, ["model", "input"]],
    ["rerank", decodeRerank, ["model", "query", "documents"]],
    ["speech", decodeSpeech, ["model", "input", "voice"]]
  ]
  for (const [name, decode, fields] of rows) {
    it(`gets an error that names all of them on ${name}`, () => {
      assert.sameMembers(fieldsOf(decode({})), [...fields])
    })
  }

  it("gets an error that names them together with other invalid fields", () => {
    assert.sameMembers(fieldsOf(decodeChat({ temperature: 9 })), ["model", "messages", "temperature"])
    assert.sameMembers(fieldsOf(decodeResponses({ temperature: 9 }, undefined)), ["model", "input", "temperature"])
    assert.sameMembers(fieldsOf(decodeResponses({ input: "a", top_p: 9 }, undefined)), ["model", "top_p"])
    assert.sameMembers(fieldsOf(decodeMessages({ model: "m", max_tokens: 0 })), ["messages", "max_tokens"])
  })

  it("gets no error for a model that its preset supplies", () => {
    assert.sameMembers(fieldsOf(decodeChat({}, { config: { model: "m" }, byPath: true })), ["messages"])
  })
})
