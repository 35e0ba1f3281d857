/** Fills the demo with videos, batches of a file, and endpoints that receive webhooks. */
import { Effect, type Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const VIDEO_PROMPTS = [
  "A parcel travels from the warehouse to a red front door",
  "Waves roll onto a beach at sunset, filmed from above",
  "A potter shapes a blue bowl on the wheel",
  "Steam rises from a cup of coffee in the morning light"
]

/** Sends JSON or a form, and returns the answer's JSON. */
export type Send = (path: string, body: object | FormData, play?: string) => Promise<{ readonly id: string }>

/** One video in three fails at its provider, so that its price comes back. */
const videoOf = (index: number) => ({
  body: {
    model: index % 2 === 0 ? "veo-3" : "seedance-2.0-fast",
    prompt: VIDEO_PROMPTS[index % VIDEO_PROMPTS.length],
    duration: 4,
    aspect_ratio: index % 2 === 0 ? "16:9" : "9:16"
  },
  play: index % 3 === 2 ? "latency_ms=200,fault=break" : "latency_ms=200"
})

/** The lines of a batch. The last one names a model that does not exist, and goes to the error file. */
const linesOf = (index: number, count: number): string =>
  Array.from({ length: count }, (_, line) =>
    JSON.stringify({
      custom_id: `review-${index * count + line + 1}`,
      method: "POST",
      url: "/v1/chat/completions",
      body: {
        model: line === count - 1 ? "gpt-4.1-pico" : "gpt-4.1-nano",
        max_tokens: 200,
        messages: [{ role: "user", content: `Is this review good or bad? "The delivery took ${line + 1} days."` }]
      }
    })
  ).join("\n")

const batchOf = async (send: Send, index: number): Promise<void> => {
  const form = new FormData()
  form.append("purpose", "batch")
  form.append("file", new Blob([linesOf(index, 12)]), `reviews-${index + 1}.jsonl`)
  const { id } = await send("/files", form)
  await send("/batches", {
    input_file_id: id,
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
    metadata: { job: "review sentiment" }
  })
}

/** Sends the long work of one moment: two videos and a batch. `index` counts these moments. */
export const sendLongWork = (video: Send, batch: Send, index: number): Promise<unknown> =>
  Promise.all([
    ...[2 * index, 2 * index + 1].map((at) => {
      const { body, play } = videoOf(at)
      return video("/videos", body, play)
    }),
    batchOf(batch, index)
  ])

/** A server that receives webhooks: all are welcome, except at `/old`, which is gone. Its address ends with a scope. */
export const receiver: Effect.Effect<string, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((request, response) => {
        request.resume()
        response.writeHead(request.url === "/old" ? 410 : 200, { "content-type": "text/plain" })
        response.end(request.url === "/old" ? "This endpoint has moved" : "Received")
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  ),
  (server) => `http://localhost:${(server.address() as AddressInfo).port}`
)
