import { assert, describe, it } from "@effect/vitest"
import { formOf } from "../../../src/providers/openai/Form.ts"

describe("formOf", () => {
  it("encodes a form that other parsers read back unchanged, whatever bytes it contains", async () => {
    const bytes = Buffer.from("\r\n--tollgate-\r\n\0\xff", "latin1")
    const file = { filename: "a.png", contentType: "image/png", bytes }
    const fields = { prompt: 'a "kite"\r\nüber Berge\r\n--', n: 2 }
    const { body, contentType } = formOf(fields, [
      { ...file, name: "image[]" },
      { ...file, name: "image[]", filename: "b.png" }
    ])
    const form = await new Response(Buffer.from(body), { headers: { "content-type": contentType } }).formData()
    assert.deepStrictEqual([form.get("prompt"), form.get("n")], [fields.prompt, "2"])
    const files = form.getAll("image[]") as Array<File>
    assert.deepStrictEqual(
      files.map(({ name, type }) => [name, type]),
      [
        ["a.png", "image/png"],
        ["b.png", "image/png"]
      ]
    )
    for (const one of files) assert.deepStrictEqual(Buffer.from(await one.arrayBuffer()), bytes)
  })
})
