/** The start and duration of each attempt on receipts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { RequestReceipt } from "../../schemas/account/Requests.ts"
import { sessionClient } from "../support/Mcp.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const messages = [{ role: "user", content: "How long did that take?" }]
const WAIT_MS = 150
/** The sandbox's timer may fire up to a millisecond early. */
const MIN_MS = WAIT_MS - 2
const slow = { "x-svc-sandbox": `latency_ms=${WAIT_MS}` }

const works: Readonly<Record<string, object>> = {
  "/chat/completions": { model: "gpt-4o-mini", messages },
  "/chat": { model: "gpt-4o-mini", messages },
  "/responses": { model: "gpt-4o-mini", input: "How long did that take?" },
  "/messages": { model: "claude-sonnet-4-5", max_tokens: 200, messages },
  "/embeddings": { model: "text-embedding-3-small", input: ["a cat"] },
  "/rerank": { model: "rerank-2.5", query: "cats", documents: ["about dogs", "about cats"] },
  "/images/generations": { model: "flux-dev", prompt: "a kite", size: "64x64" },
  "/audio/speech": { model: "tts-1", input: "Hello!", voice: "alloy" },
  "/search": { query: "tea" }
}

const streams = ["/chat/completions", "/responses", "/messages"].map(
  (path) => [path, { ...works[path], stream: true }] as const
)

const closedReceipt = (service: Service, key: string, id: string): Effect.Effect<RequestReceipt> =>
  Effect.repeat(receiptOf(service, key, id), {
    schedule: Schedule.spaced("20 millis"),
    until: ({ status }: RequestReceipt) => status !== "open"
  })

/** Asserts that one attempt served, lasted at least the sandbox's latency, started after the hold and ended before the request. */
const assertServed = (name: string, { routing, timings }: RequestReceipt) => {
  assert.deepStrictEqual(
    routing?.provider_attempts?.map(({ outcome }) => outcome),
    ["served"],
    name
  )
  const [attempt] = timings.attempts
  assert.strictEqual(timings.attempts.length, 1, name)
  assert.isAtLeast(attempt?.duration_ms ?? 0, MIN_MS, name)
  assert.isAtLeast(attempt?.start_ms ?? 0, (timings.queue_ms ?? 0) + (timings.hold_ms ?? 0))
  assert.isAtMost((attempt?.start_ms ?? 0) + (attempt?.duration_ms ?? 0), (timings.total_ms ?? 0) + 1)
}

describe("a receipt", () => {
  it.live("shows the start and duration of the attempt for every operation", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(20)
      for (const [path, body] of [...Object.entries(works), ...streams]) {
        const response = yield* post(`${service.api}${path}`, inferenceKey, body, slow)
        assert.strictEqual(response.status, 200, path)
        yield* Effect.promise(() => response.arrayBuffer())
        const id = response.headers.get("x-request-id") ?? ""
        assertServed(path, yield* closedReceipt(service, inferenceKey, id))
      }
    }).pipe(Effect.scoped)
  )

  it.live("shows a failed attempt before the attempt that served", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(20)
      const steering = { "x-svc-sandbox": "fault=error,provider=openai" }
      const response = yield* post(
        `${service.api}/chat/completions`,
        inferenceKey,
        works["/chat/completions"]!,
        steering
      )
      assert.strictEqual(response.status, 200)
      const { request_id } = yield* json(response)
      const { routing, timings } = yield* closedReceipt(service, inferenceKey, request_id)
      assert.deepStrictEqual(
        routing?.provider_attempts?.map(({ outcome }) => outcome),
        ["failed_over", "served"]
      )
      const [failed, served] = timings.attempts
      const endedAt = (failed?.start_ms ?? 0) + (failed?.duration_ms ?? 0)
      assert.isAbove(failed?.duration_ms ?? 0, 0)
      assert.isAtLeast(served?.start_ms ?? 0, endedAt)
      assert.isAbove(served?.duration_ms ?? 0, 0)
    }).pipe(Effect.scoped)
  )

  it.live("shows the attempt of an MCP tool call", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(20)
      const client = yield* sessionClient(service.origin, inferenceKey, slow)
      const args = { model: "gpt-4o-mini", messages }
      yield* Effect.promise(() => client.callTool({ name: "chat", arguments: args }))
      const { data } = yield* Effect.flatMap(get(`${service.api}/requests`, inferenceKey), json)
      assertServed("chat", data[0])
    }).pipe(Effect.scoped)
  )

  it.live("shows the attempt of a video as running until the video is ready", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(20)
      const clip = { model: "veo-3", prompt: "A kite", duration: 4, aspect_ratio: "16:9" }
      const job = yield* Effect.flatMap(post(`${service.api}/videos`, inferenceKey, clip, slow), json)
      const { timings } = yield* closedReceipt(service, inferenceKey, job.request_id)
      const [attempt] = timings.attempts
      assert.strictEqual(timings.attempts.length, 1)
      assert.isAtLeast(attempt?.duration_ms ?? 0, MIN_MS)
      assert.closeTo((attempt?.start_ms ?? 0) + (attempt?.duration_ms ?? 0), timings.total_ms ?? 0, 0.01)
    }).pipe(Effect.scoped)
  )
})
