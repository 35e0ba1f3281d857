import { assert, describe, it } from "@effect/vitest"
import { textOfBase64 } from "../../src/dialects/Base64.ts"

describe("textOfBase64", () => {
  it("returns the text of base64-encoded UTF-8", () => {
    for (const text of ["", "a", "ab", "abc", "Grüße 日本 \u0000"]) {
      assert.strictEqual(textOfBase64(Buffer.from(text).toString("base64")), text)
    }
  })

  it("returns undefined for anything else", () => {
    const bytes = Buffer.from([0xc3, 0x28]).toString("base64")
    for (const encoded of ["aGk", "a-_=", "aGk= ", "====", "aG=k", "a===", bytes]) {
      assert.isUndefined(textOfBase64(encoded), encoded)
    }
  })
})
