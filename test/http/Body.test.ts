import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { HttpServerRequest } from "effect/http"
import type { Failure } from "../../src/domain/Failure.ts"
import { bodyFailure, MAX_BODY_BYTES, readJson } from "../../src/http/Body.ts"

const read = (body: string | Uint8Array<ArrayBuffer>, contentType: string | undefined = "application/json") => {
  const request = new Request("http://test/", { method: "POST", body })
  request.headers.delete("content-type")
  if (contentType !== undefined) request.headers.set("content-type", contentType)
  return readJson(HttpServerRequest.fromWeb(request))
}

const refused = (body: string | Uint8Array<ArrayBuffer>, contentType?: string): Effect.Effect<Failure["reason"]> =>
  Effect.map(Effect.flip(read(body, contentType)), ({ reason }) => reason) as Effect.Effect<Failure["reason"]>

const nested = (levels: number, opening = "[", closing = "]") => `${opening.repeat(levels)}1${closing.repeat(levels)}`

describe("a body", () => {
  it.effect("is any JSON value in UTF-8, with or without its mark", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read('{"a":"é😀"}'), { a: "é😀" })
      assert.deepStrictEqual(yield* read(' \n[1,null,"x"]\t'), [1, null, "x"])
      assert.deepStrictEqual(yield* read(new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d])), {})
      const polluted = yield* read('{"__proto__":{"a":1}}')
      assert.deepStrictEqual(Object.keys(polluted as object), ["__proto__"])
      assert.notProperty({}, "a")
    })
  )

  for (const type of ["application/json", "application/JSON; charset=utf-8", "application/vnd.api+json", undefined]) {
    it.effect(`may be declared as ${type ?? "nothing"}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* read("{}", type), {})
      })
    )
  }

  for (const type of ["text/plain", "text/json", "application/jsonp", "multipart/form-data", "json", ""]) {
    it.effect(`may not be declared as "${type}"`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* refused("{}", type))._tag, "UnsupportedMediaType")
      })
    )
  }

  const broken: ReadonlyArray<readonly [string, string | Uint8Array<ArrayBuffer>, RegExp]> = [
    ["empty", "", /^it is empty$/],
    ["blank", " \r\n", /^it is empty$/],
    ["a mark and nothing else", new Uint8Array([0xef, 0xbb, 0xbf]), /^it is empty$/],
    ["not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), /^it is not UTF-8$/],
    ["an overlong encoding", new Uint8Array([0x22, 0xc0, 0xaf, 0x22]), /^it is not UTF-8$/],
    ["half a surrogate pair in UTF-8", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), /^it is not UTF-8$/],
    ["cut off", '{"a":', /Unexpected end/],
    ["two values", "{}{}", /position 2/],
    ["deeper than anyone needs", nested(300), /256 levels/],
    ["deep in objects", nested(300, '{"a":', "}"), /256 levels/]
  ]
  for (const [name, body, detail] of broken) {
    it.effect(`is refused when ${name}`, () =>
      Effect.gen(function* () {
        const reason = yield* refused(body)
        assert.strictEqual(reason._tag, "InvalidJson")
        if (reason._tag === "InvalidJson") assert.match(reason.detail, detail)
      })
    )
  }

  it.effect("may be as deep as 256 levels, and as wide as it likes", () =>
    Effect.gen(function* () {
      assert.strictEqual(JSON.stringify(yield* read(nested(256))), nested(256))
      const wide = `[${"[],".repeat(10_000)}{}]`
      assert.strictEqual(JSON.stringify(yield* read(wide)), wide)
      const text = JSON.stringify({ text: "[{".repeat(10_000) })
      assert.strictEqual(JSON.stringify(yield* read(text)), text)
    })
  )

  it.effect("is not quoted in the message", () =>
    Effect.gen(function* () {
      for (const body of ['{"password":"swordfish"', '{"password": swordfish}', "swordfish and more of the like"]) {
        const reason = yield* refused(body)
        assert.notInclude(JSON.stringify(reason), "swordfish", body)
      }
    })
  )

  it.effect("is refused by its declared length before it is read", () =>
    Effect.gen(function* () {
      let reads = 0
      const body = new ReadableStream({
        pull: (controller) => {
          reads += 1
          controller.close()
        }
      })
      const headers = { "content-type": "application/json", "content-length": String(MAX_BODY_BYTES + 1) }
      const request = new Request("http://test/", { method: "POST", headers, body, duplex: "half" } as RequestInit)
      const before = reads
      const exit = yield* Effect.exit(readJson(HttpServerRequest.fromWeb(request)))
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(reads, before)
    })
  )

  it("is not to blame for errors that are not its own", () => {
    assert.isUndefined(bodyFailure(new Error("x")))
    assert.isUndefined(bodyFailure(undefined))
  })
})
