#!/usr/bin/env node
/** `npm run bench`: starts all of it, measures section by section, proves the books, prints the table. */
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Exit, Layer, Logger, References } from "effect"
import { Reactivity } from "effect/reactivity"
import { writeFileSync } from "node:fs"
import { BenchError } from "./BenchError.ts"
import { keepAwake } from "./Awake.ts"
import { wrongsOf } from "./Books.ts"
import { dialects } from "./DialectsSection.ts"
import { embeddings } from "./EmbeddingsSection.ts"
import { failover } from "./FailoverSection.ts"
import { growth } from "./GrowthSection.ts"
import { jobs } from "./JobsSection.ts"
import { ledger } from "./LedgerSection.ts"
import { longStream } from "./LongStreamSection.ts"
import { machine } from "./Machine.ts"
import { makeFaults, progress, Samples, warmUp, whileStopped } from "./Measure.ts"
import { management } from "./ManagementSection.ts"
import { mcp } from "./McpSection.ts"
import { memory } from "./MemorySection.ts"
import { HELP, type Options, parseOptions, type Section, sections } from "./Options.ts"
import { portkey } from "./PortkeySection.ts"
import { render, type Report, type Row } from "./Report.ts"
import { latency, requests } from "./RequestsSection.ts"
import { routing } from "./RoutingSection.ts"
import { slowStreams } from "./SlowStreamsSection.ts"
import { setUp } from "./Stage.ts"
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

/** Sections that load the gateways which a run begins with; the others start their own. */
const ofTheStage: ReadonlySet<Section> = new Set(["requests", "latency", "streams"])

/** Sections of a millisecond here or there, with a gateway of their own. */
const alone: ReadonlySet<Section> = new Set(["usage", "management", "growth", "soak"])

const run = Effect.fn("run")(function* (options: Options) {
  const here = machine()
  if (options.awake) yield* keepAwake
  const stage = yield* setUp(options, here)
  const samples = new Samples()
  const faults = makeFaults()
  const rows: Array<Row> = []
  const warmed = [...ofTheStage].some((one) => options.only.has(one))
  if (warmed) yield* warmUp(stage)
  for (const section of sections.filter((one) => options.only.has(one))) {
    const measured = Effect.suspend(() => measures[section](stage, samples, faults))
    rows.push(...(yield* alone.has(section) ? whileStopped([stage.gateway, stage.moneyOff], measured) : measured))
  }
  yield* progress("books")
  const report: Report = {
    machine: here,
    rows,
    notes: [
      `medians of ${options.rounds} rounds of ${options.seconds} s each, in rotation`,
      ...(warmed ? [`after ${options.startSeconds} s of load of each kind`] : []),
      "added: to the same request sent straight to the upstream; money off: the gateway with a ledger that keeps no books",
      ...(options.awake ? ["processors kept from halting"] : []),
      ...(options.profile === undefined ? [] : ["**while profiling**, which costs the gateway some of its figures"])
    ],
    faults: [...faults.found, ...(yield* wrongsOf(stage))]
  }
  process.stdout.write(`\n${render(report)}`)
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ ...report, samples: samples.all }, undefined, 2)}\n`)
  }
  if (report.faults.length > 0) return yield* new BenchError({ message: "not everything was in order; see above" })
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

// Everything that the bench started has ended by then; a timer that a library left behind must not hold up what runs after it.
NodeRuntime.runMain(main, { teardown: (exit) => process.exit(Exit.isFailure(exit) ? 1 : process.exitCode) })
