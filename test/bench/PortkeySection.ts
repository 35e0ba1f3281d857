/** The gateway beside Portkey's (@portkey-ai/gateway), which forwards requests and keeps no money. */
import { Effect, Schedule } from "effect"
import { connect } from "node:net"
import { join } from "node:path"
import { freePort } from "../support/FreePort.ts"
import { BenchError } from "./BenchError.ts"
import { percentile } from "./Figures.ts"
import { fixedRate } from "./Load.ts"
import { type Faults, flood, rotate, type Samples } from "./Measure.ts"
import { output, spawned } from "./Processes.ts"
import { milliseconds, perSecond, type Row } from "./Report.ts"
import type { Stage, Target } from "./Stage.ts"

const PACKAGE = "@portkey-ai/gateway"
const VERSION = "1.15.2"

const CONCURRENCY = 64
const PER_SECOND = 100

/** Fails until the port takes a connection. */
const accepts = (port: number): Effect.Effect<void, BenchError> =>
  Effect.callback((resume) => {
    const socket = connect({ host: "127.0.0.1", port })
    socket.once("connect", () => resume(Effect.void))
    socket.once("error", () => resume(Effect.fail(new BenchError({ message: `${PACKAGE} does not listen` }))))
    return Effect.sync(() => socket.destroy())
  })

/** Installs Portkey's gateway into the directory of the run and starts it on the cores of the other measured processes. */
const start = Effect.fnUntraced(function* ({ customer, directory, machine, upstream }: Stage) {
  const place = join(directory, "portkey")
  yield* output({
    name: `npm install ${PACKAGE}`,
    program: "npm",
    args: ["install", "--prefix", place, "--ignore-scripts", "--no-audit", "--no-fund", `${PACKAGE}@${VERSION}`],
    // npm may need more of the caller's settings than its path, such as certificates.
    env: process.env as Readonly<Record<string, string>>
  })
  const port = yield* freePort
  const child = yield* spawned({
    name: PACKAGE,
    program: process.execPath,
    args: [join(place, "node_modules", PACKAGE, "build/start-server.js"), "--headless", `--port=${port}`],
    cores: machine.pinning?.measured
  })
  child.stdout.resume()
  child.stderr.resume()
  yield* Effect.retry(accepts(port), { times: 100, schedule: Schedule.spaced("100 millis") })
  const headers = {
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `http://127.0.0.1:${upstream.endpoint.port}/v1`
  }
  const endpoint = { port, path: "/v1/chat/completions", key: customer.key, headers }
  return { name: "Portkey", pid: child.pid ?? 0, endpoint } satisfies Target
})

/**
 * Whole answers and the time added to one: the bare proxy, the gateway and Portkey's in rotation. Streams are left out: the package
 * answers them with status 500.
 */
export const portkey = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { rounds, seconds, startSeconds, warmSeconds } = stage.options
  const targets = [stage.proxy, stage.gateway, yield* start(stage)]
  const easily = (target: Target, time: number) =>
    Effect.promise(() => fixedRate(target.endpoint, { perSecond: PER_SECOND, streamed: false, seconds: time }))
  for (const target of targets) yield* flood(stage, target, CONCURRENCY, startSeconds)
  yield* rotate("beside Portkey", rounds, [stage.upstream, ...targets], (target) =>
    Effect.gen(function* () {
      yield* easily(target, warmSeconds)
      const easy = yield* easily(target, seconds)
      samples.add(`beside Portkey, p50, ${target.name}`, percentile(easy.latencies, 0.5))
      if (target === stage.upstream) return
      const outcome = yield* flood(stage, target, CONCURRENCY, seconds)
      faults.add(`beside Portkey, ${target.name}`, outcome)
      samples.add(`beside Portkey, requests/s, ${target.name}`, outcome.completed / outcome.seconds)
    })
  )
  const of = (what: string, name: string) => samples.median(`beside Portkey, ${what}, ${name}`)
  const rate = (name: string) => of("requests/s", name)
  const added = (name: string) => milliseconds(of("p50", name) - of("p50", "upstream"))
  return ["gateway", "Portkey"].flatMap((name): ReadonlyArray<Row> => [
    {
      label: `Requests at concurrency ${CONCURRENCY}: ${name}`,
      baseline: perSecond(rate("bare proxy")),
      gateway: perSecond(rate(name)),
      ratio: rate(name) / rate("bare proxy")
    },
    { label: `Added p50 at ${PER_SECOND} requests/s: ${name}`, baseline: added("bare proxy"), gateway: added(name) }
  ])
})
