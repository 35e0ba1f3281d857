import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { freePort } from "../../support/FreePort.ts"
import { serve } from "../serve.ts"
import { Line } from "../wire.ts"

const requestOf = (body: string): string =>
  `POST /echo HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** Returns when the server has read what was sent before: it answers what is no HTTP even before it has routes. */
const readSoFar = (origin: string) =>
  Effect.gen(function* () {
    const line = yield* Line.open(origin)
    line.write("no HTTP\r\n\r\n")
    yield* line.take((text) => text.includes("400"))
  })

describe("a request that arrives while the routes are being built", () => {
  it.live("is answered with its whole body when they are ready, and is dropped when its client has disconnected", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const origin = `http://127.0.0.1:${port}`
      const seen: Array<string> = []
      const sent: Array<Line> = []
      const arriving = Effect.gen(function* () {
        for (const body of ["first", "second"]) {
          const line = yield* Line.open(origin)
          line.write(requestOf(body))
          sent.push(line)
        }
        const leaving = yield* Effect.scoped(
          Effect.gen(function* () {
            const line = yield* Line.open(origin)
            line.write(requestOf("gone"))
            yield* readSoFar(origin)
            return line.text
          })
        )
        assert.strictEqual(leaving, "")
        yield* readSoFar(origin)
      })
      const echo = HttpRouter.use((router) =>
        Effect.gen(function* () {
          yield* arriving
          yield* router.add("POST", "/echo", (request) =>
            Effect.map(Effect.orDie(request.text), (text) => {
              seen.push(text)
              return HttpServerResponse.text(`heard ${text}`)
            })
          )
        })
      ) as Layer.Layer<never, never, HttpRouter.HttpRouter>
      yield* serve(echo, { env: { PORT: String(port) } })
      assert.lengthOf(sent, 2)
      for (const [index, line] of sent.entries()) {
        const answer = yield* line.take((text) => text.includes("heard"))
        assert.match(answer, /^HTTP\/1\.1 200 /)
        assert.include(answer, `heard ${["first", "second"][index]}`)
      }
      assert.deepStrictEqual(seen, ["first", "second"])
    }).pipe(Effect.scoped)
  )
})
