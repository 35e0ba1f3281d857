/** The gateway beside Portkey's (@portkey-ai/gateway), which forwards requests without a ledger. */
import { Effect, Schedule } from "effect"
import { connect } from "node:net"
import { join } from "node:path"
import { freePort } from "../support/FreePort.ts"
import { BenchError } from "./BenchError.ts"
import { percentile } from "./Figures.ts"
import { fixedRate } from "./Load.ts"
import { type Failures, fullLoad, rotate, type Samples } from "./Measure.ts"
import { runToEnd, spawnScoped } from "./Processes.ts"
import { milliseconds, perSecond, type Row } from "./Report.ts"
import type { Target, Testbed } from "./Testbed.ts"

const PACKAGE = "@portkey-ai/gateway"
const VERSION = "1.15.2"

const CONCURRENCY = 64
const PER_SECOND = 100

/** Connects to the port once; fails when nothing listens. */
const connectOnce = (port: number): Effect.Effect<void, BenchError> =>
  Effect.callback((resume) => {
    const socket = connect({ host: "127.0.0.1", port })
    socket.once("connect", () => resume(Effect.void))
    socket.once("error", () =>
      resume(Effect.fail(new BenchError({ message: `${PACKAGE} does not accept connections.` })))
    )
    return Effect.sync(() => socket.destroy())
  })

/** Installs Portkey's gateway and starts it on the core of the measured processes. */
const start = Effect.fnUntraced(function* ({ account, directory, machine, upstream }: Testbed) {
  const packages = join(directory, "portkey")
  yield* runToEnd({
    name: `npm install ${PACKAGE}`,
    program: "npm",
    args: ["install", "--prefix", packages, "--ignore-scripts", "--no-audit", "--no-fund", `${PACKAGE}@${VERSION}`],
    // npm may need more of the environment than PATH, such as certificates.
    env: process.env as Readonly<Record<string, string>>
  })
  const port = yield* freePort
  const child = yield* spawnScoped({
    name: PACKAGE,
    program: process.execPath,
    args: [join(packages, "node_modules", PACKAGE, "build/start-server.js"), "--headless", `--port=${port}`],
    cores: machine.pinning?.measured
  })
  child.stdout.resume()
  child.stderr.resume()
  yield* Effect.retry(connectOnce(port), { times: 100, schedule: Schedule.spaced("100 millis") })
  const headers = {
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `http://127.0.0.1:${upstream.endpoint.port}/v1`
  }
  const endpoint = { port, path: "/v1/chat/completions", key: account.key, headers }
  return { name: "Portkey", pid: child.pid ?? 0, endpoint } satisfies Target
})

/**
 * Complete answers per second and the added time: the bare proxy, the gateway and Portkey's in rotation. Without streams, because this
 * version answers them with status 500.
 */
export const portkey = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const { rounds, seconds, startSeconds, warmSeconds } = testbed.options
  const targets = [testbed.proxy, testbed.gateway, yield* start(testbed)]
  const moderately = (target: Target, time: number) =>
    Effect.promise(() => fixedRate(target.endpoint, { perSecond: PER_SECOND, streamed: false, seconds: time }))
  for (const target of targets) yield* fullLoad(testbed, target, CONCURRENCY, startSeconds)
  yield* rotate("beside Portkey", rounds, [testbed.upstream, ...targets], (target) =>
    Effect.gen(function* () {
      yield* moderately(target, warmSeconds)
      const moderate = yield* moderately(target, seconds)
      samples.add(`beside Portkey, p50, ${target.name}`, percentile(moderate.latencies, 0.5))
      if (target === testbed.upstream) return
      const outcome = yield* fullLoad(testbed, target, CONCURRENCY, seconds)
      failures.add(`beside Portkey, ${target.name}`, outcome)
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
