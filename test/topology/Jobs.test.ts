/** What runs in the background is done once, though every node works on it. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, type Scope } from "effect"
import { writeFileSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { join } from "node:path"
import { Webhook } from "standardwebhooks"
import { until } from "../support/Until.ts"
import { upstream } from "../providers/upstream.ts"
import { type Receiver, receiver } from "../support/Receiver.ts"
import { get, json, post } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { missing, startTopology, type Topology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"

announceSkip("jobs of several nodes", missing)

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  return text
}

const say = (response: ServerResponse, body: object) =>
  void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))

/** A host that makes videos as fal does and answers chats as OpenAI does, and how often it was asked for each. */
const startHost = Effect.gen(function* () {
  const asked = new Map<string, number>()
  const count = (prompt: string) => void asked.set(prompt, (asked.get(prompt) ?? 0) + 1)
  let made = 0
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [path, body] = [request.url ?? "", await textOf(request)]
    if (path.endsWith("/clip.mp4")) return void response.end(Buffer.from("\0\0\0\x18ftypisom", "latin1"))
    if (path.endsWith("/status")) return say(response, { status: "COMPLETED" })
    if (request.method !== "POST") return say(response, { video: { url: `${origin}/clip.mp4` } })
    count(/(film|line) \d+/.exec(body)?.[0] ?? "unknown")
    if (path.includes("/chat/")) {
      return say(response, {
        id: "chatcmpl-1",
        object: "chat.completion",
        model: "gpt-4o-mini",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "done" } }],
        usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 }
      })
    }
    say(response, { request_id: `r${made}`, response_url: `${origin}/fal-ai/veo3/requests/r${made++}` })
  }
  const { origin } = yield* upstream((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  return { asked, origin }
})

interface Stage {
  readonly topology: Topology
  readonly asked: ReadonlyMap<string, number>
  readonly hook: Receiver
}

const startStage: Effect.Effect<Stage, unknown, Scope.Scope> = Effect.gen(function* () {
  const { asked, origin } = yield* startHost
  const directory = yield* temporaryDirectory
  const file = join(directory, "providers.json")
  writeFileSync(
    file,
    JSON.stringify([{ id: "alpha", base_url: `${origin}/v1`, models: { "gpt-4o-mini": "gpt-4o-mini" } }])
  )
  const topology = yield* startTopology({
    settings: { SANDBOX: "off", PROVIDERS_FILE: file, FAL_API_KEY: "k", FAL_BASE_URL: origin }
  })
  return { topology, asked, hook: yield* receiver() }
})

class Staged extends Context.Service<Staged, Stage>()("tollgate/test/StagedJobs") {
  static readonly layer = Layer.effect(Staged, Effect.orDie(startStage))
}

/** How often each was asked for, of those whose name begins so. */
const times = (asked: ReadonlyMap<string, number>, name: string) =>
  [...asked].filter(([prompt]) => prompt.startsWith(name)).map(([, count]) => count)

describe.skipIf(missing !== undefined)("three nodes that work on the same jobs", () => {
  layer(Staged.layer, { excludeTestServices: true })((it) => {
    it.effect("make each video once, charge it once and deliver its event once", () =>
      Effect.gen(function* () {
        const { asked, hook, topology } = yield* Staged
        const { nodes, open, origin, sql } = topology
        const account = yield* open()
        const wanted = { url: hook.url, events: ["video.completed", "video.failed"] }
        const { secret } = yield* Effect.flatMap(post(`${origin}/api/v1/webhooks`, account.key, wanted), json)
        const films = 8
        const handed = yield* Effect.forEach(
          Array.from({ length: films }).keys(),
          (index) =>
            // Handed in to every node at the same time.
            Effect.forEach(
              nodes,
              ({ api }) => {
                const film = { model: "veo-3", prompt: `film ${index}`, duration: 4, aspect_ratio: "16:9" }
                const sent = post(`${api}/videos`, account.key, film, { "idempotency-key": `film-${index}` })
                return Effect.flatMap(sent, (response) =>
                  Effect.map(json(response), ({ id }) => ({ status: response.status, id: id as string | undefined }))
                )
              },
              { concurrency: "unbounded" }
            ),
          { concurrency: "unbounded" }
        )
        for (const answers of handed) {
          const sold = answers.filter(({ status }) => status < 300)
          assert.isAbove(sold.length, 0)
          assert.strictEqual(new Set(sold.map(({ id }) => id)).size, 1)
          for (const { status } of answers) assert.include([200, 202, 409], status)
        }
        yield* until(
          "every video has ended and its event has been delivered",
          Effect.map(
            Effect.orDie(sql`SELECT FROM webhook_delivery WHERE status = 'delivered'`),
            (rows) => rows.length >= films
          )
        )
        // A second delivery would come now.
        yield* Effect.sleep("1 second")
        assert.deepStrictEqual(
          times(asked, "film"),
          Array.from({ length: films }, () => 1)
        )
        const told = hook.received.map(({ headers }) => headers["webhook-id"])
        assert.deepStrictEqual([told.length, new Set(told).size], [films, films])
        for (const { body, headers } of hook.received) new Webhook(secret).verify(body, headers)
        const jobs = yield* sql<{ state: string; charged: bigint }>`SELECT state, charged FROM video_job
          WHERE account_id = ${account.id}`
        assert.deepStrictEqual([...new Set(jobs.map(({ state }) => state))], ["completed"])
        const cost = jobs.reduce((sum, { charged }) => sum + charged, 0n)
        assert.deepStrictEqual(yield* topology.books(account), {
          posted: account.credited - cost,
          held: 0n,
          running: 0
        })
      })
    )

    it.effect("send each line of a batch to its provider once and charge it once", () =>
      Effect.gen(function* () {
        const { asked, topology } = yield* Staged
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
        // Each node knows how far it is.
        yield* Effect.forEach(
          nodes,
          ({ api, name }) =>
            until(
              `${name} says that the batch has ended`,
              Effect.map(Effect.flatMap(get(`${api}/batches/${id}`, account.key), json), ({ status }) => {
                assert.notInclude(["failed", "expired", "cancelled"], status)
                return status === "completed"
              })
            ),
          { concurrency: "unbounded" }
        )
        yield* topology.settled
        assert.deepStrictEqual(
          times(asked, "line"),
          lines.map(() => 1)
        )
        const [row] = yield* sql<{ charged: number; cost: bigint }>`SELECT count(*)::int AS charged,
          sum(settled)::bigint AS cost FROM request WHERE account_id = ${account.id} AND settled > 0`
        assert.strictEqual(row?.charged, lines.length)
        const { posted } = yield* topology.books(account)
        assert.strictEqual(account.credited - posted, row?.cost)
      })
    )

    it.effect("leave the books in order", () =>
      Effect.gen(function* () {
        const { topology } = yield* Staged
        assert.deepStrictEqual(yield* topology.faults, [])
      })
    )
  })
})
