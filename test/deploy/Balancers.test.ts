/** The recipes for balancers, each with Debian's program in front of the gateway. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "node:http"
import { freePort } from "../support/FreePort.ts"
import { json, post, startService } from "../support/Service.ts"
import { balancers, programOf, startBalancer } from "./programs.ts"

/** Returns the rate limit that is left for a client at another address. */
const remaining = (origin: string, forwardedFor: string) =>
  Effect.promise(
    () =>
      new Promise<number>((resolve, reject) => {
        const headers = { "x-forwarded-for": forwardedFor }
        const sent = request(`${origin}/api/v1/models?limit=1`, { localAddress: "127.0.0.5", headers }, (answer) => {
          answer.resume()
          resolve(Number(answer.headers["x-ratelimit-remaining"]))
        })
        sent.on("error", reject).end()
      })
  )

for (const balancer of balancers) {
  const missing = programOf(balancer) === undefined
  if (missing)
    process.stderr.write(`\n*** SKIPPED: the recipe for ${balancer.name} is not tried: it is not installed ***\n\n`)

  describe.skipIf(missing)(`the recipe for ${balancer.name}`, () => {
    it.live("streams, forwards bodies and addresses, and skips nodes that are down", () =>
      Effect.gen(function* () {
        const service = yield* startService({ TRUSTED_PROXIES: "127.0.0.1" })
        const { inferenceKey } = yield* service.account(10)
        const port = Number(new URL(service.origin).port)
        const opsPort = Number(new URL(service.ops).port)
        const origin = yield* startBalancer(balancer, [
          { port, opsPort },
          { port: yield* freePort, opsPort }
        ])
        const api = `${origin}/api/v1`
        const body = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }

        // Two of the three nodes refuse connections.
        for (let count = 0; count < 9; count++) {
          assert.strictEqual((yield* post(`${api}/chat/completions`, inferenceKey, body)).status, 200)
        }

        const steering = { "x-svc-sandbox": "chunk_ms=400,text=one%20two%20three%20four%20five" }
        const streamed = yield* post(`${api}/chat/completions`, inferenceKey, { ...body, stream: true }, steering)
        const times = yield* Effect.promise(async () => {
          const seen: Array<number> = []
          for await (const _ of streamed.body!) seen.push(performance.now())
          return seen
        })
        assert.isAbove(times.at(-1)! - times[0]!, 500, "the stream arrived at once")

        // This body is larger than nginx's default limit, so the gateway itself rejects it.
        const large = yield* post(`${api}/estimate`, inferenceKey, { ...body, padding: "x".repeat(4_000_000) })
        assert.deepStrictEqual([large.status, (yield* json(large)).error.code], [400, "validation_error"])

        const left = yield* remaining(origin, "192.0.2.1")
        assert.isAbove(left, 1)
        assert.strictEqual(yield* remaining(origin, "192.0.2.2"), left - 1, "a client chose its address")
      }).pipe(Effect.scoped)
    )
  })
}
