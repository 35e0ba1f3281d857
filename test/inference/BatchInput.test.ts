import { assert, describe, it } from "@effect/vitest"
import { linesOf, makeInputCheck, MAX_LINES, readLine, surfaceUrlOf } from "../../src/inference/BatchInput.ts"

const bytes = (text: string) => Buffer.from(text)

const request = { custom_id: "a", method: "POST", url: "/v1/embeddings", body: { input: "a" } }

const faultsOf = (text: string | Uint8Array) => {
  const checking = makeInputCheck(linesOf(typeof text === "string" ? bytes(text) : text), "/embeddings")
  for (let at = 0; at < checking.total; at++) checking.check(at)
  return checking.faults
}

describe("the input of a batch", () => {
  it("is of one operation, with /v1 or without", () => {
    assert.strictEqual(surfaceUrlOf("/v1/chat/completions"), "/chat/completions")
    assert.strictEqual(surfaceUrlOf("/messages"), "/messages")
    for (const none of ["/v1", "/v2/messages", "/v1/v1/messages", "/images", "messages", ""]) {
      assert.isUndefined(surfaceUrlOf(none), none)
    }
  })

  it("has lines with numbers, the empty ones of which do not count", () => {
    assert.deepStrictEqual(linesOf(bytes("a\r\n\n b\n")), [
      { text: "a\r", line: 1 },
      { text: " b", line: 3 }
    ])
    assert.isUndefined(linesOf(new Uint8Array([0xff])))
  })

  it("has a digest of each request, which is another for another", () => {
    const read = (value: object) => {
      const line = readLine(JSON.stringify(value), "/embeddings")
      assert.isTrue("customId" in line)
      return "customId" in line ? line : assert.fail()
    }
    const one = read(request)
    assert.deepStrictEqual([one.customId, one.body], ["a", request.body])
    assert.strictEqual(read(request).fingerprint, one.fingerprint)
    assert.notStrictEqual(read({ ...request, body: { input: "b" } }).fingerprint, one.fingerprint)
  })

  it("is faulty as a whole where it has no requests, or too many", () => {
    assert.deepStrictEqual(
      [faultsOf("\n \n"), faultsOf(new Uint8Array([0xff])), faultsOf("{}\n".repeat(MAX_LINES + 1))].map((faults) =>
        faults.map(({ code, line }) => [code, line])
      ),
      [[["empty_file", null]], [["invalid_encoding", null]], [["too_many_requests", null]]]
    )
    assert.deepStrictEqual(faultsOf(JSON.stringify(request)), [])
  })

  it("tells no more than a hundred faults", () => {
    const faults = faultsOf("{}\n".repeat(500))
    assert.lengthOf(faults, 100)
    assert.deepInclude(faults[99], { code: "invalid_custom_id", line: 100, param: "custom_id" })
  })
})
