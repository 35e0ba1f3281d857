import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startService } from "../../support/Service.ts"
import { answers, Line, parse } from "../wire.ts"

const PATH = "/api/v1/chat/completions"
const body = JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] })

const headOf = (key: string, length: number, more: ReadonlyArray<string> = [], target = PATH): string =>
  [
    `POST ${target} HTTP/1.1`,
    "host: test",
    `authorization: Bearer ${key}`,
    "content-type: application/json",
    `content-length: ${length}`,
    ...more,
    "\r\n"
  ].join("\r\n")

const scene = Effect.gen(function* () {
  const service = yield* startService()
  const { inferenceKey } = yield* service.account(1)
  return { key: inferenceKey, line: yield* Line.open(service.origin) }
})

const expects = ["expect: 100-continue"]

describe("the body of a request", () => {
  it.live("is requested with 100 Continue when the client waits for it", () =>
    Effect.gen(function* () {
      const { key, line } = yield* scene
      line.write(headOf(key, body.length, expects))
      assert.match(yield* line.take((text) => text.endsWith("\r\n\r\n")), /^HTTP\/1\.1 100 /)
      line.write(body)
      assert.strictEqual(parse(yield* line.take(answers(1))).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("is not requested when the gateway refuses the request without it", () =>
    Effect.gen(function* () {
      const { line } = yield* scene
      line.write(headOf("svc_sk_wrong", body.length, expects))
      const { headers, status } = parse(yield* line.take(answers(1)))
      assert.deepStrictEqual([status, headers["connection"]], [401, "close"])
      yield* line.ended
    }).pipe(Effect.scoped)
  )

  it.live(
    "is discarded when it is short and the request is refused, so that the connection serves the next request",
    () =>
      Effect.gen(function* () {
        const { key, line } = yield* scene
        line.write(headOf("svc_sk_wrong", body.length) + body + headOf(key, body.length) + body)
        const text = yield* line.take(answers(2))
        assert.match(text, /^HTTP\/1\.1 401 [\s\S]*HTTP\/1\.1 200 /)
      }).pipe(Effect.scoped)
  )

  it.live("closes its connection after the response when it is long and the request is refused", () =>
    Effect.gen(function* () {
      const { line } = yield* scene
      const length = 4_000_000
      line.write(headOf("svc_sk_wrong", length) + "a".repeat(length / 2))
      const { headers, status } = parse(yield* line.take(answers(1)))
      assert.deepStrictEqual([status, headers["connection"]], [401, "close"])
      yield* line.ended
    }).pipe(Effect.scoped)
  )

  it.live("is accepted after a request target with scheme and host", () =>
    Effect.gen(function* () {
      const { key, line } = yield* scene
      line.write(headOf(key, body.length, [], `http://elsewhere.example${PATH}`) + body)
      assert.strictEqual(parse(yield* line.take(answers(1))).status, 200)
    }).pipe(Effect.scoped)
  )
})
