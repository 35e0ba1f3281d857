import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { faultsOf, linesOf, MAX_LINES, readLine, operationUrlOf } from "../../src/batches/BatchInput.ts"

const bytes = (text: string) => Buffer.from(text)

const request = { custom_id: "a", method: "POST", url: "/v1/embeddings", body: { input: "a" } }

const check = (text: string | Uint8Array) =>
  Effect.flatMap(linesOf(typeof text === "string" ? bytes(text) : text), (lines) => faultsOf(lines, "/embeddings"))

const textsOf = (input: Uint8Array) =>
  Effect.map(linesOf(input), (lines) => lines && Array.from({ length: lines.count }, (_, at) => lines.lineAt(at)))

describe("the input of a batch", () => {
  it("is for one endpoint, with or without /v1", () => {
    assert.strictEqual(operationUrlOf("/v1/chat/completions"), "/chat/completions")
    assert.strictEqual(operationUrlOf("/messages"), "/messages")
    for (const none of ["/v1", "/v2/messages", "/v1/v1/messages", "/images", "messages", ""]) {
      assert.isUndefined(operationUrlOf(none), none)
    }
  })

  it.effect("has numbered lines, and empty lines do not count as requests", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* textsOf(bytes("a\r\n\n \té\n \r\n")), [
        { text: "a\r", line: 1 },
        { text: "é", line: 3 }
      ])
      assert.deepStrictEqual(yield* textsOf(bytes("\ufeff{}")), [{ text: "{}", line: 1 }])
      assert.deepStrictEqual(yield* textsOf(bytes("\n\nwhole").subarray(1)), [{ text: "whole", line: 2 }])
      assert.isUndefined(yield* linesOf(new Uint8Array([0xff])))
    })
  )

  it.effect("lets other work run while it is scanned, even through many empty lines", () =>
    Effect.gen(function* () {
      const input = Buffer.concat([bytes("{}"), Buffer.alloc(8 * 1_048_576, "\n"), bytes("[]")])
      let turns = 0
      const turn = (): void => {
        turns++
        next = setImmediate(turn)
      }
      let next = setImmediate(turn)
      const lines = yield* textsOf(input)
      clearImmediate(next)
      assert.isAtLeast(turns, 4)
      assert.deepStrictEqual(lines, [
        { text: "{}", line: 1 },
        { text: "[]", line: input.length - 3 }
      ])
    })
  )

  it.effect("is read up to one line beyond the maximum", () =>
    Effect.gen(function* () {
      const lines = yield* linesOf(bytes("1\n".repeat(MAX_LINES + 9)))
      assert.strictEqual(lines?.count, MAX_LINES + 1)
    })
  )

  it("answers each fault with a sentence, and names the endpoint of the batch", () => {
    const messageOf = (text: string) => {
      const read = readLine(text, "/embeddings")
      return "customId" in read ? undefined : read[2]
    }
    assert.strictEqual(
      messageOf(JSON.stringify({ ...request, url: "/v1/messages" })),
      "`url` must be /v1/embeddings, the endpoint of the batch."
    )
    for (const text of ["{", "1", "{}", JSON.stringify({ ...request, method: "GET" })]) {
      assert.match(messageOf(text) ?? "", /\.$/)
    }
  })

  it("has a distinct fingerprint for each request", () => {
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

  it.effect("is rejected as a whole when it has no requests, or too many", () =>
    Effect.gen(function* () {
      const told: Array<unknown> = []
      for (const input of ["\n \n", new Uint8Array([0xff]), "{}\n".repeat(MAX_LINES + 1)]) {
        told.push((yield* check(input)).map(({ code, line }) => [code, line]))
      }
      assert.deepStrictEqual(told, [
        [["empty_file", null]],
        [["invalid_encoding", null]],
        [["too_many_requests", null]]
      ])
      assert.deepStrictEqual(yield* check(JSON.stringify(request)), [])
    })
  )

  it.effect("is rejected at lines that are nested too deeply or too large to parse", () =>
    Effect.gen(function* () {
      const deep = `{"a":${"[".repeat(100_000)}1${"]".repeat(100_000)}}`
      const large = `{"a":[${"{},".repeat(300_000)}1]}`
      const faults = yield* check(`${deep}\n${large}\n${JSON.stringify(request)}`)
      assert.deepStrictEqual(
        faults.map(({ code, line, message }) => [code, line, message]),
        [
          ["invalid_json_line", 1, "This line is nested more than 256 levels deep."],
          ["invalid_json_line", 2, "This line must have at most 200,000 objects, arrays and members in total."]
        ]
      )
    })
  )

  it.effect("is reported with at most 100 faults", () =>
    Effect.gen(function* () {
      const faults = yield* check("{}\n".repeat(500))
      assert.lengthOf(faults, 100)
      assert.deepInclude(faults[99], { code: "invalid_custom_id", line: 100, param: "custom_id" })
    })
  )
})
