/** How much longer a large answer of vectors takes through the gateway than through the bare proxy, from first byte sent to last. */
import { Effect } from "effect"
import { request } from "node:http"
import { type Faults, rotate, type Samples } from "./Measure.ts"
import { listen, memoryMiB, node } from "./Processes.ts"
import { atMost, mebibytes, milliseconds, type Row } from "./Report.ts"
import { fileOf, type Stage, type Target } from "./Stage.ts"
import { DIMENSIONS, INPUTS, requestOf } from "./Vectors.ts"

/** The gateway may take half as much again. */
const MOST_RATIO = 1.5

const formats = ["float", "base64"] as const

/** Of one answer: how long it took, and what is wrong with it. */
const ask = ({ endpoint: { key, path, port } }: Target, body: string) =>
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

export const embeddings = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const cores = stage.machine.pinning?.measured
  const upstream = yield* listen({ name: "the upstream of vectors", ...node(fileOf("vectorUpstream")) })
  const origin = `http://127.0.0.1:${upstream.port}`
  const proxy = yield* listen({ name: "the bare proxy", ...node(fileOf("bareProxy"), origin), cores })
  const gateway = yield* stage.freshGateway({ OPENAI_BASE_URL: `${origin}/v1` })
  const sides: ReadonlyArray<Target> = [
    { ...stage.proxy, pid: proxy.pid, endpoint: { ...stage.proxy.endpoint, path: "/v1/embeddings", port: proxy.port } },
    { ...gateway, endpoint: { ...gateway.endpoint, path: "/api/v1/embeddings" } }
  ]
  for (const format of formats) {
    const body = requestOf(format)
    const turn = (side: Target, seconds: number, counts: boolean) =>
      Effect.gen(function* () {
        const until = performance.now() + seconds * 1_000
        do {
          const { ms, wrong } = yield* ask(side, body)
          faults.add(`embeddings, ${side.name}`, {
            completed: wrong === undefined ? 1 : 0,
            failed: wrong === undefined ? 0 : 1,
            example: wrong ?? ""
          })
          if (counts) samples.add(`embeddings ${format}, ${side.name}`, ms)
        } while (performance.now() < until)
      })
    for (const side of sides) yield* turn(side, stage.options.warmSeconds, false)
    yield* rotate(`embeddings, ${format}`, stage.options.rounds, sides, (side) =>
      turn(side, stage.options.seconds, true)
    )
  }
  return formats.map((format, index): Row => {
    const of = (name: Target["name"]) => samples.median(`embeddings ${format}, ${name}`)
    const ratio = of("gateway") / of("bare proxy")
    const peak = index === 0 ? memoryMiB(gateway.pid)?.peak : undefined
    return {
      label: `${INPUTS} vectors of ${DIMENSIONS} dimensions as ${format}${peak === undefined ? "" : `, at most in ${mebibytes(peak)}`}`,
      baseline: milliseconds(of("bare proxy")),
      gateway: milliseconds(of("gateway")),
      ratio,
      must: atMost(ratio, MOST_RATIO, " ×")
    }
  })
}, Effect.scoped)
