import { assert, it } from "@effect/vitest"
import { encodeEmbeddings } from "../../../src/providers/openai/EmbedEncode.ts"
import { embedWork, modelCall } from "../retrieval.ts"

it("encodes the embeddings fields that OpenAI's API has, always with an encoding format", () => {
  const encode = (more: Parameters<typeof embedWork>[0]) =>
    JSON.parse(encodeEmbeddings(modelCall("text-embedding-3-small"), embedWork(more))) as unknown
  assert.deepStrictEqual(encode({}), {
    model: "text-embedding-3-small",
    input: ["a cat", "a dog"],
    encoding_format: "float"
  })
  const all = {
    inputs: [[1, 2]],
    dimensions: 8,
    format: "base64",
    inputType: "query",
    truncation: true,
    user: "u"
  } as const
  assert.deepStrictEqual(encode(all), {
    model: "text-embedding-3-small",
    input: [[1, 2]],
    dimensions: 8,
    encoding_format: "base64",
    user: "u"
  })
  assert.match((encode({ user: "u".repeat(65) }) as { readonly user: string }).user, /^[0-9a-f]{64}$/)
})
