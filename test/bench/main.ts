#!/usr/bin/env node
/** `npm run bench`: starts the testbed, runs the sections, checks the ledger and prints the table. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Exit, Layer, Logger, References } from "effect"
import { Reactivity } from "effect/reactivity"
import { writeFileSync } from "node:fs"
import { BenchError } from "./BenchError.ts"
import { keepAwake } from "./Awake.ts"
import { ledgerErrorsOf } from "./LedgerCheck.ts"
import { dialects } from "./DialectsSection.ts"
import { embeddings } from "./EmbeddingsSection.ts"
import { failover } from "./FailoverSection.ts"
import { growth } from "./GrowthSection.ts"
import { jobs } from "./JobsSection.ts"
import { ledger } from "./LedgerSection.ts"
import { longStream } from "./LongStreamSection.ts"
import { machine } from "./Machine.ts"
import { makeFailures, progress, Samples, warmUp, whileStopped } from "./Measure.ts"
import { management } from "./ManagementSection.ts"
import { mcp } from "./McpSection.ts"
import { memory } from "./MemorySection.ts"
import { HELP, type Options, parseOptions, type Section, sections } from "./Options.ts"
import { portkey } from "./PortkeySection.ts"
import { render, type Report, type Row } from "./Report.ts"
import { latency, requests } from "./RequestsSection.ts"
import { routing } from "./RoutingSection.ts"
import { slowStreams } from "./SlowStreamsSection.ts"
import { startTestbed } from "./Testbed.ts"
import { soak } from "./SoakSection.ts"
import { streams } from "./StreamsSection.ts"
import { usage } from "./UsageSection.ts"
import { webhooks } from "./WebhooksSection.ts"

const measures = {
  requests,
  latency,
  streams,
  memory,
  ledger,
  routing,
  failover,
  dialects,
  longstream: longStream,
  slowstreams: slowStreams,
  embeddings,
  mcp,
  usage,
  management,
  webhooks,
  jobs,
  portkey,
  growth,
  soak
} as const

/** Sections on the run's first gateways; the others start their own. */
const sharedGateways: ReadonlySet<Section> = new Set(["requests", "latency", "streams"])

/** Sections where milliseconds count. The first gateways are suspended meanwhile. */
const suspending: ReadonlySet<Section> = new Set(["usage", "management", "growth", "soak"])

const run = Effect.fn("run")(function* (options: Options) {
  const thisMachine = machine()
  if (options.awake) yield* keepAwake
  const testbed = yield* startTestbed(options, thisMachine)
  const samples = new Samples()
  const failures = makeFailures()
  const rows: Array<Row> = []
  const needsWarmUp = [...sharedGateways].some((one) => options.only.has(one))
  if (needsWarmUp) yield* warmUp(testbed)
  for (const section of sections.filter((one) => options.only.has(one))) {
    const measured = Effect.suspend(() => measures[section](testbed, samples, failures))
    rows.push(
      ...(yield* suspending.has(section) ? whileStopped([testbed.gateway, testbed.moneyOff], measured) : measured)
    )
  }
  yield* progress("ledger")
  const report: Report = {
    machine: thisMachine,
    rows,
    notes: [
      `medians of ${options.rounds} rounds of ${options.seconds} s each, in rotation`,
      ...(needsWarmUp ? [`after a warm-up of ${options.startSeconds} s of each kind`] : []),
      "added: beyond the same request sent directly to the upstream; money off: the gateway with a ledger that records nothing",
      ...(options.awake ? ["processors kept from halting"] : []),
      ...(options.profile === undefined ? [] : ["**while profiling**, which slows the gateway down"])
    ],
    failures: [...failures.found, ...(yield* ledgerErrorsOf(testbed))]
  }
  process.stdout.write(`\n${render(report)}`)
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ ...report, samples: samples.all }, undefined, 2)}\n`)
  }
  if (report.failures.length > 0) return yield* new BenchError({ message: "The run found errors; see above." })
}, Effect.scoped)

const main = Effect.gen(function* () {
  const options = yield* Effect.try({
    try: () => parseOptions(process.argv.slice(2)),
    catch: (error) => (error instanceof BenchError ? error : new BenchError({ message: String(error) }))
  })
  if (options === undefined) process.stdout.write(HELP)
  else yield* run(options)
}).pipe(
  Effect.catch((error) =>
    Effect.sync(() => {
      process.stderr.write(`bench: ${error.message}\n`)
      process.exitCode = 1
    })
  ),
  Effect.provide([Reactivity.layer, Logger.layer([]), Layer.succeed(References.MinimumLogLevel, "None")])
)

// Exits although a library may have left a timer behind: everything that the bench started has ended.
NodeRuntime.runMain(main, { teardown: (exit) => process.exit(Exit.isFailure(exit) ? 1 : process.exitCode) })
