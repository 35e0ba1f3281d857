import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { text } from "node:stream/consumers"
import { createClient } from "../../src/client/Client.ts"
import { TollgateError } from "../../src/client/Errors.ts"
import { upstream } from "../providers/upstream.ts"
import { startService } from "../support/Service.ts"
import { rejection } from "./rejection.ts"

const hello = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] } as const

describe("a request of the client", () => {
  it.live("is charged once when a connection breaks between its attempts", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const seen: Array<string | undefined> = []
      // Forwards each request, and drops the answer to the first one.
      const flaky = yield* upstream(async (request, response) => {
        const key = request.headers["idempotency-key"]
        seen.push(typeof key === "string" ? key : undefined)
        const answer = await fetch(`${service.origin}${request.url}`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${inferenceKey}`,
            "content-type": "application/json",
            "idempotency-key": `${key}`
          },
          body: await text(request)
        })
        const answered = await answer.text()
        if (seen.length === 1) return void response.destroy()
        response.writeHead(answer.status, { "content-type": "application/json" }).end(answered)
      })
      const client = createClient({ baseUrl: flaky.origin, apiKey: inferenceKey })
      const answer = yield* Effect.promise(() => client.call("chat.completions", { body: hello }))
      assert.lengthOf(seen, 2)
      assert.isString(seen[0])
      assert.strictEqual(seen[0], seen[1])
      const direct = createClient({ baseUrl: service.origin, apiKey: inferenceKey })
      const list = yield* Effect.promise(() => direct.call("requests.list"))
      assert.deepStrictEqual(
        list.data.map(({ id }) => id),
        [answer.request_id]
      )
    }).pipe(Effect.scoped)
  )

  it.live("obeys Retry-After and X-Should-Retry, and gives up after its retries", () =>
    Effect.gen(function* () {
      const answers: Array<readonly [number, Record<string, string>]> = []
      let asked = 0
      const host = yield* upstream((_, response) => {
        asked++
        const [status, headers] = answers.shift() ?? [500, {}]
        response
          .writeHead(status, { "content-type": "application/json", ...headers })
          .end(JSON.stringify({ error: { message: "no", type: "t", code: "c", param: "model" }, details: [] }))
      })
      const client = createClient({ baseUrl: host.origin, apiKey: "k", maxRetries: 1 })
      const ask = (...given: typeof answers) =>
        Effect.gen(function* () {
          answers.splice(0, answers.length, ...given)
          asked = 0
          const error = yield* rejection(client.call("chat.completions", { body: hello }))
          assert.instanceOf(error, TollgateError)
          return [error.status, error.code, error.param, error.shouldRetry, asked] as const
        })
      const soon = { "retry-after": "0" }
      assert.deepStrictEqual(yield* ask([429, soon], [402, {}]), [402, "c", "model", false, 2])
      assert.deepStrictEqual(yield* ask([503, { ...soon, "x-should-retry": "false" }]), [503, "c", "model", false, 1])
      assert.deepStrictEqual(yield* ask([400, { ...soon, "x-should-retry": "true" }], [429, soon]), [
        429,
        "c",
        "model",
        true,
        2
      ])
      // The caller decides whether to wait for an hour.
      assert.deepStrictEqual(yield* ask([429, { "retry-after": "3600" }]), [429, "c", "model", true, 1])
    }).pipe(Effect.scoped)
  )
})
