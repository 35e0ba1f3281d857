/** Background jobs run once, although every node works on them. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, type Scope } from "effect"
import { writeFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { join } from "node:path"
import { Webhook } from "standardwebhooks"
import { until } from "../support/Until.ts"
import { upstream } from "../providers/upstream.ts"
import { bodyOf } from "../support/Bodies.ts"
import { type Receiver, receiver } from "../support/Receiver.ts"
import { get, json, post } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { missing, startTopology, type Topology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"

announceSkip("jobs of several nodes", missing)

const send = (response: ServerResponse, body: object) =>
  void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))

/** A provider with fal's API for videos and OpenAI's for chats. It counts the calls for each prompt. */
const startHost = Effect.gen(function* () {
  const calls = new Map<string, number>()
  const count = (prompt: string) => void calls.set(prompt, (calls.get(prompt) ?? 0) + 1)
  let made = 0
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [path, body] = [request.url ?? "", (await bodyOf(request)).toString()]
    if (path.endsWith("/clip.mp4")) return void response.end(Buffer.from("\0\0\0\x18ftypisom", "latin1"))
    if (path.endsWith("/status")) return send(response, { status: "COMPLETED" })
    if (request.method !== "POST") return send(response, { video: { url: `${origin}/clip.mp4` } })
    count(/(video|line) \d+/.exec(body)?.[0] ?? "unknown")
    if (path.includes("/chat/")) {
      return send(response, {
        id: "chatcmpl-1",
        object: "chat.completion",
        model: "gpt-4o-mini",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "done" } }],
        usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 }
      })
    }
    send(response, { request_id: `r${made}`, response_url: `${origin}/fal-ai/veo3/requests/r${made++}` })
  }
  const { origin } = yield* upstream((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  return { calls, origin }
})

interface JobNodesService {
  readonly topology: Topology
  readonly calls: ReadonlyMap<string, number>
  readonly hook: Receiver
}

const startNodes: Effect.Effect<JobNodesService, unknown, Scope.Scope> = Effect.gen(function* () {
  const { calls, origin } = yield* startHost
  const directory = yield* temporaryDirectory
  const file = join(directory, "providers.json")
  writeFileSync(
    file,
    JSON.stringify([{ id: "alpha", base_url: `${origin}/v1`, models: { "gpt-4o-mini": "gpt-4o-mini" } }])
  )
  const topology = yield* startTopology({
    settings: { SANDBOX: "off", PROVIDERS_FILE: file, FAL_API_KEY: "k", FAL_BASE_URL: origin }
  })
  return { topology, calls, hook: yield* receiver() }
})

class JobNodes extends Context.Service<JobNodes, JobNodesService>()("tollgate/test/JobNodes") {
  static readonly layer = Layer.effect(JobNodes, Effect.orDie(startNodes))
}

/** The number of calls for each prompt with this prefix. */
const countsOf = (calls: ReadonlyMap<string, number>, name: string) =>
  [...calls].filter(([prompt]) => prompt.startsWith(name)).map(([, count]) => count)

describe.skipIf(missing !== undefined)("three nodes that work on the same jobs", () => {
  layer(JobNodes.layer, { excludeTestServices: true })((it) => {
    it.effect("create each video, charge it and deliver its event once", () =>
      Effect.gen(function* () {
        const { calls, hook, topology } = yield* JobNodes
        const { nodes, open, origin, sql } = topology
        const account = yield* open()
        const wanted = { url: hook.url, events: ["video.completed", "video.failed"] }
        const { secret } = yield* Effect.flatMap(post(`${origin}/api/v1/webhooks`, account.key, wanted), json)
        const videoCount = 8
        const submissions = yield* Effect.forEach(
          Array.from({ length: videoCount }).keys(),
          (index) =>
            // To every node at the same time.
            Effect.forEach(
              nodes,
              ({ api }) => {
                const video = { model: "veo-3", prompt: `video ${index}`, duration: 4, aspect_ratio: "16:9" }
                const sent = post(`${api}/videos`, account.key, video, { "idempotency-key": `video-${index}` })
                return Effect.flatMap(sent, (response) =>
                  Effect.map(json(response), ({ id }) => ({ status: response.status, id: id as string | undefined }))
                )
              },
              { concurrency: "unbounded" }
            ),
          { concurrency: "unbounded" }
        )
        for (const answers of submissions) {
          const accepted = answers.filter(({ status }) => status < 300)
          assert.isAbove(accepted.length, 0)
          assert.strictEqual(new Set(accepted.map(({ id }) => id)).size, 1)
          for (const { status } of answers) assert.include([200, 202, 409], status)
        }
        yield* until(
          "the event of every video is delivered",
          Effect.map(
            Effect.orDie(sql`SELECT FROM webhook_delivery WHERE status = 'delivered'`),
            (rows) => rows.length >= videoCount
          )
        )
        // Time for a second delivery.
        yield* Effect.sleep("1 second")
        assert.deepStrictEqual(
          countsOf(calls, "video"),
          Array.from({ length: videoCount }, () => 1)
        )
        const webhooks = hook.received.map(({ headers }) => headers["webhook-id"])
        assert.deepStrictEqual([webhooks.length, new Set(webhooks).size], [videoCount, videoCount])
        for (const { body, headers } of hook.received) new Webhook(secret).verify(body, headers)
        const jobs = yield* sql<{ state: string; charged: bigint }>`SELECT state, charged FROM video_job
          WHERE account_id = ${account.id}`
        assert.deepStrictEqual([...new Set(jobs.map(({ state }) => state))], ["completed"])
        const cost = jobs.reduce((sum, { charged }) => sum + charged, 0n)
        assert.deepStrictEqual(yield* topology.accountState(account), {
          posted: account.credited - cost,
          held: 0n,
          running: 0
        })
      })
    )

    it.effect("send each line of a batch to its provider, and charge it, once", () =>
      Effect.gen(function* () {
        const { calls, topology } = yield* JobNodes
        const { nodes, open, origin, sql } = topology
        const account = yield* open()
        const lines = Array.from({ length: 40 }, (_, at) => ({
          custom_id: `line ${at}`,
          method: "POST",
          url: "/v1/chat/completions",
          body: { model: "gpt-4o-mini", max_tokens: 20, messages: [{ role: "user", content: `Say line ${at}` }] }
        }))
        const form = new FormData()
        form.set("purpose", "batch")
        form.set("file", new Blob([lines.map((line) => JSON.stringify(line)).join("\n")]), "input.jsonl")
        const file = yield* Effect.promise(async () => {
          const headers = { authorization: `Bearer ${account.key}` }
          const response = await fetch(`${origin}/api/v1/files`, { method: "POST", headers, body: form })
          return (await response.json()) as { readonly id: string }
        })
        const wanted = { input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" }
        const { id } = yield* Effect.flatMap(post(`${origin}/api/v1/batches`, account.key, wanted), json)
        // Every node reports the batch's status.
        yield* Effect.forEach(
          nodes,
          ({ api, name }) =>
            until(
              `${name} reports a completed batch`,
              Effect.map(Effect.flatMap(get(`${api}/batches/${id}`, account.key), json), ({ status }) => {
                assert.notInclude(["failed", "expired", "cancelled"], status)
                return status === "completed"
              })
            ),
          { concurrency: "unbounded" }
        )
        yield* topology.untilNoHold
        assert.deepStrictEqual(
          countsOf(calls, "line"),
          lines.map(() => 1)
        )
        const [row] = yield* sql<{ charged: number; cost: bigint }>`SELECT count(*)::int AS charged,
          sum(settled)::bigint AS cost FROM request WHERE account_id = ${account.id} AND settled > 0`
        assert.strictEqual(row?.charged, lines.length)
        const { posted } = yield* topology.accountState(account)
        assert.strictEqual(account.credited - posted, row?.cost)
      })
    )

    it.effect("leave the books without errors", () =>
      Effect.gen(function* () {
        const { topology } = yield* JobNodes
        assert.deepStrictEqual(yield* topology.failedChecks, [])
      })
    )
  })
})
