import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { HttpServerRequest } from "effect/http"
import type { Failure } from "../../../src/domain/Failure.ts"
import { bodyFailure, MAX_BODY_BYTES, readJson } from "../../../src/http/edge/Body.ts"
import { BodyBudget, NodeBodyBudget } from "../../../src/http/edge/BodyBudget.ts"

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
  it.effect("may be any JSON value in UTF-8, with or without a byte order mark", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read('{"a":"é😀"}'), { a: "é😀" })
      assert.deepStrictEqual(yield* read(' \n[1,null,"x"]\t'), [1, null, "x"])
      assert.deepStrictEqual(yield* read(new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d])), {})
      const polluted = yield* read('{"__proto__":{"a":1}}')
      assert.deepStrictEqual(Object.keys(polluted as object), ["__proto__"])
      assert.notProperty({}, "a")
    })
  )

  it.effect("keeps all digits of a tool call's numbers", () =>
    Effect.gen(function* () {
      const body = '{"messages":[{"content":[{"type":"tool_use","input":{"order":1234567890123456789}}]}]}'
      assert.strictEqual(JSON.stringify(yield* read(body)), body)
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

  const membersOf = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}" : 0`).join(",")

  it.effect("may have objects of up to 10,000 members", () =>
    Effect.gen(function* () {
      const wide = `{${membersOf(10_000)}}`
      const text = JSON.stringify(`\\${membersOf(20_000)}\\`)
      const taken = yield* read(`{"a":${wide},"b":[${wide}],"c":${text},${membersOf(9_997)}}`)
      assert.lengthOf(Object.keys(taken as object), 10_000)
      const problems = [{ field: "body", message: "must have at most 10,000 members in each object" }]
      for (const body of [`{${membersOf(10_001)}}`, `{"a":[{"\\\\":${text},${membersOf(10_000)}}]}`]) {
        assert.deepInclude<object>(yield* refused(body), { _tag: "ValidationError", problems })
      }
    })
  )

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

  it.effect("may have 256 levels and any width", () =>
    Effect.gen(function* () {
      assert.strictEqual(JSON.stringify(yield* read(nested(256))), nested(256))
      const wide = `[${"[],".repeat(10_000)}{}]`
      assert.strictEqual(JSON.stringify(yield* read(wide)), wide)
      const text = JSON.stringify({ text: "[{".repeat(10_000) })
      assert.strictEqual(JSON.stringify(yield* read(text)), text)
    })
  )

  it.effect("is not quoted in the error message", () =>
    Effect.gen(function* () {
      for (const body of ['{"password":"swordfish"', '{"password": swordfish}', "swordfish and more of the like"]) {
        const reason = yield* refused(body)
        assert.notInclude(JSON.stringify(reason), "swordfish", body)
      }
    })
  )

  it.effect("is rejected by its declared length before it is read", () =>
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

  it("is not blamed for other errors", () => {
    assert.isUndefined(bodyFailure(new Error("x")))
    assert.isUndefined(bodyFailure(undefined))
  })
})

/** A body that is sent piece by piece; `taken` waits until a piece has been read. */
const slowly = () => {
  let controller!: ReadableStreamDefaultController<Uint8Array>
  let asked: () => void = () => undefined
  const body = new ReadableStream<Uint8Array>(
    {
      start: (one) => {
        controller = one
      },
      pull: () => asked()
    },
    { highWaterMark: 0 }
  )
  const init = { method: "POST", headers: { "content-type": "application/json" }, body, duplex: "half" }
  return {
    request: HttpServerRequest.fromWeb(new Request("http://test/", init as RequestInit)),
    /** Sends a piece, and waits until more is asked for. */
    send: (piece: string | Uint8Array) =>
      Effect.promise(async () => {
        const wanted = new Promise<void>((resolve) => {
          asked = resolve
        })
        controller.enqueue(Buffer.from(piece))
        await wanted
      }),
    end: () => controller.close(),
    fail: () => controller.error(new Error("gone"))
  }
}

describe("bodies that are still arriving", () => {
  const within = (budget: BodyBudget) => Effect.provideService(NodeBodyBudget, budget)
  const piece = `"${"x".repeat(998)}`

  it.effect("share a node's memory budget: excess bodies are rejected, and completed ones free it", () =>
    Effect.gen(function* () {
      const budget = new BodyBudget(1_500)
      const first = slowly()
      const reading = yield* Effect.forkChild(readJson(first.request).pipe(within(budget)))
      yield* first.send(piece)
      assert.strictEqual(budget.used, 999)
      const refused = yield* Effect.flip(read(`${piece}"`).pipe(within(budget)))
      assert.strictEqual((refused as Failure).reason._tag, "Overloaded")
      assert.strictEqual(budget.used, 999)
      assert.strictEqual(yield* read("1").pipe(within(budget)), 1)
      yield* Effect.promise(async () => first.end())
      assert.isTrue(Exit.isFailure(yield* Fiber.await(reading)))
      assert.strictEqual(budget.used, 0)
      assert.strictEqual(yield* read(`${piece}"`).pipe(within(budget)), piece.slice(1))
      assert.strictEqual(budget.used, 0)
    })
  )

  it.effect("are assembled from chunks of any size", () =>
    Effect.gen(function* () {
      const value = `é${"x".repeat(40_000)}`
      const bytes = Buffer.from(JSON.stringify(value))
      for (const size of [1, 16_384, 16_385, bytes.length]) {
        const budget = new BodyBudget(bytes.length)
        const one = slowly()
        const reading = yield* Effect.forkChild(readJson(one.request).pipe(within(budget)))
        for (let at = 0; at < bytes.length; at += size) yield* one.send(bytes.subarray(at, at + size))
        assert.strictEqual(budget.used, bytes.length)
        one.end()
        assert.strictEqual(yield* Fiber.join(reading), value)
        assert.strictEqual(budget.used, 0)
      }
    })
  )

  it.effect("free their memory budget when the client or the reader leaves", () =>
    Effect.gen(function* () {
      for (const how of ["fail", "interrupt"] as const) {
        const budget = new BodyBudget(1_500)
        const one = slowly()
        const reading = yield* Effect.forkChild(readJson(one.request).pipe(within(budget)))
        yield* one.send(piece)
        assert.strictEqual(budget.used, 999, how)
        if (how === "fail") one.fail()
        else yield* Fiber.interrupt(reading)
        assert.isTrue(Exit.isFailure(yield* Fiber.await(reading)), how)
        assert.strictEqual(budget.used, 0, how)
      }
    })
  )
})
