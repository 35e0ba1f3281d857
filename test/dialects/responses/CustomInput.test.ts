import { assert, describe, it } from "@effect/vitest"
import { customArguments, customInputOf, CustomInputReader } from "../../../src/dialects/responses/CustomInput.ts"

const texts = ["", "plain", 'a "quoted" \\ text\n\t', "é 漢字 👩‍👩‍👧 \u0000\u001f", "\ud800 alone", "</script>"]
/** Escapes every character outside of ASCII, as some hosts write JSON. */
const asciiOnly = (json: string) =>
  json.replaceAll(/[^\n\u0020-\u007e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

describe("the input of a custom tool", () => {
  it("is read from the arguments, however their JSON is written", () => {
    for (const text of texts) {
      assert.strictEqual(customInputOf(customArguments(text)), text)
      assert.strictEqual(customInputOf(asciiOnly(`{\n  "input" : ${JSON.stringify(text)}\n}`)), text)
    }
  })

  it("is read from pieces of any size", () => {
    for (const text of texts) {
      for (const json of [customArguments(text), asciiOnly(customArguments(text))]) {
        for (let size = 1; size <= json.length; size++) {
          const reader = new CustomInputReader()
          let read = ""
          for (let at = 0; at < json.length; at += size) read += reader.push(json.slice(at, at + size))
          assert.strictEqual(read, text, `${json} by ${size}`)
        }
      }
    }
  })

  it("is the part that arrived when the arguments are cut off", () => {
    assert.strictEqual(customInputOf('{"input":"one\\ntw'), "one\ntw")
    assert.strictEqual(customInputOf('{"inp'), '{"inp')
  })
})
