/** One run: load and faults, then the wait for every hold to close, then the audit. */
import { Effect, Schedule, type Scope } from "effect"
import { audit, type Violation } from "./Audit.ts"
import { type Account, type Cluster, startCluster } from "./Cluster.ts"
import type { Evidence, VideoEvidence } from "./Evidence.ts"
import { type Counts, type FaultTally, kinds, NO_FAULTS, planOf, runPlan } from "./Faults.ts"
import { emptyLoad, type Load, runClient } from "./Load.ts"
import { NO_VIDEOS, settleVideos, submitVideos, subscribe, VIDEO_ACCOUNT, videosOf } from "./VideoLoad.ts"
import { accountSpecs } from "./Workload.ts"

export interface RunOptions {
  readonly seed: number
  /** Faults of each kind. */
  readonly counts: Counts
  readonly gateways: number
  /** Concurrent clients. */
  readonly clients: number
  /** The longest time between two faults of one target, in milliseconds. */
  readonly withinMs: number
  /** No fault begins after this time. */
  readonly minutes: number
  /** Receives lines about the progress of the run. */
  readonly log?: (line: string) => void
}

/** The phases of a run, in order. `draining` lasts from the last fault until every client has stopped. */
export const phases = ["starting", "breaking", "draining", "settling", "auditing"] as const
export type Phase = (typeof phases)[number]

export interface Report {
  readonly options: RunOptions
  readonly done: FaultTally
  readonly evidence: Evidence
  readonly violations: ReadonlyArray<Violation>
  readonly seconds: number
  /** The length of each phase, in milliseconds. */
  readonly phases: Readonly<Record<Phase, number>>
  /** Errors that the gateways logged. */
  readonly logged: ReadonlyArray<string>
  /** The last lines of each gateway's log. */
  readonly logs: ReadonlyArray<ReadonlyArray<string>>
}

/** Adds to the records of a load what the harness reads afterwards, without the calls of other loads on the same cluster. */
export const evidenceOf = (
  cluster: Cluster,
  load: Load,
  accounts: Iterable<Account>,
  videos: VideoEvidence = NO_VIDEOS
): Effect.Effect<Evidence> =>
  Effect.gen(function* () {
    const all = [...accounts]
    const operations = new Set(load.operations.map(({ id }) => id))
    return {
      ...load,
      calls: cluster.upstream.calls().filter(({ operation }) => operations.has(operation)),
      receipts: (yield* Effect.forEach(all, cluster.receipts, { concurrency: "unbounded" })).flat(),
      accounts: yield* Effect.forEach(all, cluster.accountState),
      videos,
      outages: cluster.database.outages(),
      slows: cluster.database.slows(),
      gateways: cluster.gateways.map((gateway) => gateway.outages()),
      failedChecks: yield* cluster.failedChecks
    }
  })

/** The longest that a hold outlives its process: its life, two sweeps, and as much again for a busy machine. */
const HOLDS_END_WITHIN = "30 seconds"

/** Waits until every hold is settled, released or swept. The audit lists those that stay open. */
export const untilNoHold = (cluster: Cluster): Effect.Effect<void> =>
  cluster.openHolds.pipe(
    Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: (open) => open === 0 }),
    Effect.timeoutOption(HOLDS_END_WITHIN),
    Effect.asVoid
  )

const progressOf = (done: FaultTally, load: Load): string =>
  [
    ...kinds.flatMap((kind) => (done[kind] === 0 ? [] : [`${done[kind]} ${kind}`])),
    `${load.attempts.length} requests`
  ].join(", ")

const breakUnderLoad = (
  cluster: Cluster,
  options: RunOptions,
  load: Load,
  accounts: ReadonlyMap<string, Account>,
  hooks: { readonly submit: (keepGoing: () => boolean) => Promise<void>; readonly onLastFault: () => void }
) =>
  Effect.gen(function* () {
    const done: FaultTally = { ...NO_FAULTS }
    const deadline = Date.now() + options.minutes * 60_000
    let over = false
    const clients = Array.from({ length: options.clients }, (_, client) =>
      runClient({ cluster, load, accounts, seed: options.seed, client, keepGoing: () => !over })
    )
    const videos = hooks.submit(() => !over)
    const progress = Effect.gen(function* () {
      yield* Effect.sleep("15 seconds")
      options.log?.(progressOf(done, load))
    })
    const faults = runPlan(cluster, planOf(options.seed, options), done, () => Date.now() < deadline)
    yield* Effect.raceFirst(faults, Effect.forever(progress)).pipe(
      Effect.ensuring(
        Effect.promise(() => {
          over = true
          hooks.onLastFault()
          return Promise.all([...clients, videos])
        })
      )
    )
    return done
  })

/** Lines that a gateway prints at its start beside its log. */
const STARTUP_LINES = ["tollgate cannot start", "There is no account yet", "npm run admin", "The command prints"]

/** Whether a line is an error of the log or the output of a crash. A start without a database is neither. */
const isError = (line: string): boolean =>
  line.startsWith("{")
    ? /"level":"(ERROR|FATAL)"/.test(line)
    : line.trim() !== "" && !STARTUP_LINES.some((words) => line.trim().startsWith(words))

/** Runs everything and returns the report. The scope ends every process that the run started. */
export const run = (options: RunOptions): Effect.Effect<Report, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const startedAt = Date.now()
    const { counts } = options
    const took: Record<Phase, number> = { starting: 0, breaking: 0, draining: 0, settling: 0, auditing: 0 }
    let since = startedAt
    const endPhase = (phase: Phase) => {
      const now = Date.now()
      took[phase] = now - since
      since = now
    }
    const cluster = yield* startCluster({
      gateways: options.gateways,
      partitions: counts.partitions > 0,
      steps: counts.steps > 0,
      standby: counts.failovers > 0,
      smallDisk: counts.fills > 0
    })
    const opened = yield* Effect.forEach(accountSpecs, ({ credit, name }) => cluster.open(name, credit))
    const accounts = new Map(opened.map((account) => [account.name, account]))
    const load = emptyLoad()
    const { gateways, videoHost } = cluster
    const videoAccount = yield* cluster.open(VIDEO_ACCOUNT.name, VIDEO_ACCOUNT.credit)
    const submissions: Array<VideoEvidence["submissions"][number]> = []
    const ports = gateways.map(({ port }) => port)
    yield* subscribe(videoHost, ports[0] ?? 0, videoAccount.key)
    endPhase("starting")
    const done = yield* breakUnderLoad(cluster, options, load, accounts, {
      submit: (keepGoing) => submitVideos(submissions, { ports, key: videoAccount.key, seed: options.seed, keepGoing }),
      onLastFault: () => endPhase("breaking")
    })
    endPhase("draining")
    options.log?.(`${progressOf(done, load)}; waiting for holds and videos to end`)
    const sql = yield* cluster.sql
    yield* settleVideos(sql, videoHost)
    yield* untilNoHold(cluster)
    endPhase("settling")
    options.log?.("auditing")
    const videos = yield* videosOf(sql, videoHost, videoAccount.id, submissions)
    const evidence = yield* evidenceOf(cluster, load, opened, videos)
    const violations = audit(evidence)
    endPhase("auditing")
    return {
      options,
      done,
      evidence,
      violations,
      phases: took,
      seconds: Math.round((Date.now() - startedAt) / 1000),
      logs: gateways.map((gateway) => gateway.log().filter((line) => line.startsWith("{"))),
      logged: gateways.flatMap((gateway) => gateway.log()).filter(isError)
    }
  })
