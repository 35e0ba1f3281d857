import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { base64Of, decodeEmbeddings, floatsOf, mostEmbedBytes } from "../../../src/providers/wire/EmbedDecode.ts"
import { faultOfError } from "../../../src/providers/openai/Failure.ts"
import type { EmbedWork } from "../../../src/domain/Work.ts"
import { Random } from "../../ledger/Random.ts"

const work = (format: EmbedWork["format"], inputs: EmbedWork["inputs"]): EmbedWork => ({
  inputs,
  format,
  dimensions: undefined,
  inputType: undefined,
  truncation: false,
  user: undefined
})

const decode = (body: unknown, format: EmbedWork["format"] = "float", inputs = ["a", "b"]) =>
  decodeEmbeddings(
    Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    work(format, inputs),
    faultOfError
  )

const listOf = (body: unknown, format: EmbedWork["format"] = "float") => {
  const { data, tokens } = Result.getOrThrow(decode(body, format))
  const text = Buffer.from(data).toString()
  return { text, list: JSON.parse(text) as unknown, tokens }
}

const faultOf = (body: unknown, format: EmbedWork["format"] = "float") => {
  const decoded = decode(body, format)
  return Result.isFailure(decoded) ? decoded.failure : assert.fail("the body was accepted")
}

const element = (index: number, embedding: unknown, more: object = {}) => ({
  object: "embedding",
  index,
  embedding,
  ...more
})

const usage = { prompt_tokens: 5, total_tokens: 5 }

describe("a list of embeddings", () => {
  it("is passed on byte for byte when it is in order, however it is formatted", () => {
    const text = `[ {"index":0,\n"embedding" : [ 1.50, -2e-3\t],"object":"embedding"} ,{"object":"embedding","embedding":[0,1],"index":1}]`
    for (const body of [
      `{"object":"list","data":${text},"model":"m","usage":{"prompt_tokens":5,"total_tokens":5}}`,
      ` {"usage":{"total_tokens":5},"x":{"data":[1,"]"]},"data":\n${text} }\n`
    ]) {
      assert.deepInclude(listOf(body), { text, tokens: 5 })
    }
    const base64 = `[{"object":"embedding","index":0,"embedding":"AACAPw=="},{"object":"embedding","index":1,"embedding":"AAAAAA=="}]`
    assert.deepInclude(listOf(`{"data":${base64}}`, "base64"), { text: base64, tokens: undefined })
  })

  it("is rewritten when it is out of order, has other fields or is in the other format", () => {
    const list = [element(0, [1, 0.5]), element(1, [0, 1])]
    const bodies = [
      { data: [list[1], list[0]], usage },
      { data: [element(0, [1, 0.5], { text: "]" }), list[1]], usage },
      { data: [{ embedding: [1, 0.5] }, { embedding: [0, 1] }], usage },
      { data: [element(0, base64Of([1, 0.5])), element(1, base64Of([0, 1]))], usage }
    ]
    for (const body of bodies) assert.deepInclude(listOf(body), { list, tokens: 5 })
    assert.deepStrictEqual(listOf(`{"d\\u0061ta":${JSON.stringify(list)}}`).list, list)
    const inBase64 = [element(0, base64Of([1, 0.5])), element(1, base64Of([0, 1]))]
    assert.deepStrictEqual(listOf({ data: list }, "base64").list, inBase64)
  })

  it("is rejected when it does not match the inputs, or is not a list of vectors", () => {
    const bad = [
      "not JSON",
      "[]",
      {},
      { data: [element(0, [1])] },
      { data: [element(0, [1]), element(1, [1]), element(2, [1])] },
      { data: [element(0, [1]), element(0, [1])] },
      { data: [element(0, [1]), element(1, [])] },
      { data: [element(0, []), element(1, [1])] },
      { data: [element(0, [1]), element(1, [null])] },
      { data: [element(0, [1]), element(1, null)] },
      `{"data":[{"object":"embedding","index":0,"embedding":[NaN]},{"object":"embedding","index":1,"embedding":[1]}]}`
    ]
    for (const body of bad) assert.strictEqual(faultOf(body)._tag, "Malformed", JSON.stringify(body))
    assert.strictEqual(faultOf({ data: [element(0, ""), element(1, "AAAA")] }, "base64")._tag, "Malformed")
  })

  it("fails with the error that the body contains instead", () => {
    for (const body of [
      { error: { message: "slow down", code: 429 } },
      { object: "error", message: "slow down", code: 429 }
    ]) {
      assert.deepStrictEqual(faultOf(body), { _tag: "RateLimited", retryAfterSeconds: undefined })
    }
  })

  const seed = Number(process.env["EMBED_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

  it(`decodes the same on the fast path as on the slow one (EMBED_SEED=${seed})`, () => {
    const random = new Random(seed)
    for (let round = 0; round < 300; round++) {
      const vectors = Array.from({ length: 2 }, () =>
        Array.from({ length: 1 + random.below(5) }, () => random.next() - 0.5)
      )
      const list = vectors.map((vector, index) => element(index, vector))
      const text = JSON.stringify({ data: list, usage }, null, random.below(3))
      assert.deepStrictEqual(listOf(text).list, list)
      const at = random.below(text.length)
      const cut = decode(text.slice(0, at))
      assert.isTrue(Result.isFailure(cut), text.slice(0, at))
    }
  })
})

describe("base64", () => {
  it("encodes little-endian 32-bit floats", () => {
    assert.strictEqual(base64Of([1, -2]), "AACAPwAAAMA=")
    assert.deepStrictEqual(floatsOf("AACAPwAAAMA="), [1, -2])
  })
})

describe("mostEmbedBytes", () => {
  it("covers the requested vectors in their longest form", () => {
    const most = mostEmbedBytes(
      work(
        "float",
        Array.from({ length: 2_048 }, () => "a")
      )
    )
    assert.isAbove(most, 2_048 * 3_072 * 26)
    assert.isBelow(most, 300_000_000)
    const wide = { ...work("float", ["a"]), dimensions: 1_000_000_000 }
    assert.strictEqual(mostEmbedBytes(wide), mostEmbedBytes({ ...wide, dimensions: 4_096 }))
    assert.isAbove(mostEmbedBytes(work("base64", ["a"])), 4_096 * 5.4)
  })
})
