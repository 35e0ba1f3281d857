/** The time of a large embeddings answer through the gateway and through the bare proxy, from the first byte sent to the last received. */
import { Effect } from "effect"
import { request } from "node:http"
import { type Failures, rotate, type Samples } from "./Measure.ts"
import { memoryMiB, node, startServer } from "./Processes.ts"
import { atMost, mebibytes, milliseconds, type Row } from "./Report.ts"
import { fileOf, type Target, type Testbed } from "./Testbed.ts"
import { DIMENSIONS, INPUTS, requestOf } from "./Vectors.ts"

/** The gateway may take half as long again. */
const MAX_RATIO = 1.5

const formats = ["float", "base64"] as const

/** Sends one request; returns its time, its size and what is wrong with its answer. */
const measureRequest = ({ endpoint: { key, path, port } }: Target, body: string) =>
  Effect.callback<{ readonly ms: number; readonly bytes: number; readonly wrong: string | undefined }>((resume) => {
    const began = performance.now()
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
    const sent = request({ host: "127.0.0.1", port, path, method: "POST", headers }, (response) => {
      let bytes = 0
      let last = ""
      response.on("data", (piece: Buffer) => {
        bytes += piece.length
        if (piece.length < 1_024) last += piece.toString("latin1")
        else last = piece.toString("latin1", piece.length - 1_024)
      })
      response.on("end", () => {
        const whole = response.statusCode === 200 && last.includes('"usage":{"prompt_tokens":2048')
        const wrong = whole ? undefined : `${response.statusCode}: ${last.slice(-200)}`
        resume(Effect.succeed({ ms: performance.now() - began, bytes, wrong }))
      })
    })
    sent.on("error", ({ message }) => resume(Effect.succeed({ ms: 0, bytes: 0, wrong: message })))
    sent.end(body)
  })

export const embeddings = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const cores = testbed.machine.pinning?.measured
  const upstream = yield* startServer({ name: "the embeddings upstream", ...node(fileOf("vectorUpstream")) })
  const origin = `http://127.0.0.1:${upstream.port}`
  const proxy = yield* startServer({ name: "the bare proxy", ...node(fileOf("bareProxy"), origin), cores })
  const gateway = yield* testbed.freshGateway({ OPENAI_BASE_URL: `${origin}/v1` })
  const sides: ReadonlyArray<Target> = [
    {
      ...testbed.proxy,
      pid: proxy.pid,
      endpoint: { ...testbed.proxy.endpoint, path: "/v1/embeddings", port: proxy.port }
    },
    { ...gateway, endpoint: { ...gateway.endpoint, path: "/api/v1/embeddings" } }
  ]
  for (const format of formats) {
    const body = requestOf(format)
    const turn = (side: Target, seconds: number, counts: boolean) =>
      Effect.gen(function* () {
        const until = performance.now() + seconds * 1_000
        do {
          const { ms, wrong } = yield* measureRequest(side, body)
          failures.add(`embeddings, ${side.name}`, {
            completed: wrong === undefined ? 1 : 0,
            failed: wrong === undefined ? 0 : 1,
            example: wrong ?? ""
          })
          if (counts) samples.add(`embeddings ${format}, ${side.name}`, ms)
        } while (performance.now() < until)
      })
    for (const side of sides) yield* turn(side, testbed.options.warmSeconds, false)
    yield* rotate(`embeddings, ${format}`, testbed.options.rounds, sides, (side) =>
      turn(side, testbed.options.seconds, true)
    )
  }
  return formats.map((format, index): Row => {
    const of = (name: Target["name"]) => samples.median(`embeddings ${format}, ${name}`)
    const ratio = of("gateway") / of("bare proxy")
    const peak = index === 0 ? memoryMiB(gateway.pid)?.peak : undefined
    return {
      label: `${INPUTS} vectors of ${DIMENSIONS} dimensions as ${format}${peak === undefined ? "" : `, peak memory ${mebibytes(peak)}`}`,
      baseline: milliseconds(of("bare proxy")),
      gateway: milliseconds(of("gateway")),
      ratio,
      must: atMost(ratio, MAX_RATIO, " ×")
    }
  })
}, Effect.scoped)
