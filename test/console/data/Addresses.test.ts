import { assert, describe, it } from "@effect/vitest"
import { fileUrl, isOperatorPage, operatorPathOf, requestIdIn } from "../../../src/console/data/Addresses.ts"

describe("the URL of a file", () => {
  it("is on the console's origin, whatever the gateway's public URL is", () => {
    assert.strictEqual(fileUrl("https://gateway.example/files/file_1"), "/files/file_1")
    assert.strictEqual(fileUrl("http://127.0.0.1:8787/files/file_1?x=1"), "/files/file_1?x=1")
  })

  it("is unchanged when it does not lead to a file of the gateway", () =>
    assert.strictEqual(fileUrl("https://cdn.example/clip.mp4"), "https://cdn.example/clip.mp4"))
})

describe("a pasted request id", () => {
  it("is found in any case and with spaces around it", () => {
    const id = "req_01JZ8Q4T9X2V7B6N5M3K1H0G8F"
    for (const text of [id, ` ${id}\n`, id.toLowerCase()]) assert.strictEqual(requestIdIn(text), id)
  })

  it("is undefined for any other text", () => {
    for (const text of ["", "req_", "req_01JZ", `x${"req_01JZ8Q4T9X2V7B6N5M3K1H0G8F"}`, `req_${"U".repeat(26)}`]) {
      assert.isUndefined(requestIdIn(text), text)
    }
  })
})

describe("the operator's pages", () => {
  it("are distinguished from owners' pages by their path", () => {
    assert.deepStrictEqual(["/operator", "/operator/accounts", "/operators", "/overview"].map(isOperatorPage), [
      true,
      true,
      false,
      false
    ])
  })

  it("are the only pages that an operator's sign-in leads to", () => {
    assert.strictEqual(operatorPathOf("/operator/report?days=7d"), "/operator/report?days=7d")
    for (const other of [
      undefined,
      "/overview",
      "//evil.example/operator",
      "/operator/sign-in",
      "https://evil.example"
    ]) {
      assert.strictEqual(operatorPathOf(other), "/operator/accounts")
    }
  })
})
