/** One run: load, faults, rest, audit. */
import { Effect, Schedule, type Scope } from "effect"
import { audit, type Violation } from "./Audit.ts"
import { carryOutPlan, type Counts, type Done, kinds, NO_FAULTS, planOf } from "./Faults.ts"
import { requestVideos, videosOf, NO_VIDEOS, PURSE, settleVideos, subscribe } from "./VideoLoad.ts"
import { emptyLoad, type Load, work } from "./Load.ts"
import type { Evidence, VideoNotes } from "./Notes.ts"
import { type Account, startWorld, type World } from "./World.ts"
import { purses } from "./Workload.ts"

export interface RunOptions {
  readonly seed: number
  /** Faults of each kind. */
  readonly counts: Counts
  readonly gateways: number
  /** Clients at work at one time. */
  readonly clients: number
  /** The most between two faults of one victim, in milliseconds. */
  readonly withinMs: number
  /** No fault begins later than this. */
  readonly minutes: number
  /** Told now and then how far the run is. */
  readonly say?: (line: string) => void
}

/** What a run does, one after the other: `ending` is from the last fault until no client works. */
export const parts = ["starting", "breaking", "ending", "resting", "auditing"] as const
export type Part = (typeof parts)[number]

export interface Report {
  readonly options: RunOptions
  readonly done: Done
  readonly evidence: Evidence
  readonly violations: ReadonlyArray<Violation>
  readonly seconds: number
  /** How long each part of the run took, in milliseconds. */
  readonly parts: Readonly<Record<Part, number>>
  /** Errors that the gateways logged. */
  readonly logged: ReadonlyArray<string>
  /** The last lines of each gateway's log. */
  readonly logs: ReadonlyArray<ReadonlyArray<string>>
}

/** Gathers what is left to be read when all is at rest. */
export const evidenceOf = (
  world: World,
  load: Load,
  accounts: Iterable<Account>,
  videos: VideoNotes = NO_VIDEOS
): Effect.Effect<Evidence> =>
  Effect.gen(function* () {
    const all = [...accounts]
    return {
      ...load,
      calls: world.upstream.calls(),
      receipts: (yield* Effect.forEach(all, world.receipts, { concurrency: "unbounded" })).flat(),
      books: yield* Effect.forEach(all, world.books),
      videos,
      outages: world.database.outages(),
      slows: world.database.slows(),
      gateways: world.gateways.map((gateway) => gateway.troubles()),
      faults: yield* world.faults
    }
  })

/** The longest that a hold outlives its process: its own time, two sweeps, and as much again for a busy machine. */
const REST = "30 seconds"

/** Waits for every hold to end: with its request, or when its time is over and a sweep comes by. The audit names the others. */
export const untilNoHold = (world: World): Effect.Effect<void> =>
  world.openHolds.pipe(
    Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: (open) => open === 0 }),
    Effect.timeoutOption(REST),
    Effect.asVoid
  )

/** How far a run is. */
const progressOf = (done: Done, load: Load): string =>
  [
    ...kinds.flatMap((kind) => (done[kind] === 0 ? [] : [`${done[kind]} ${kind}`])),
    `${load.tries.length} requests`
  ].join(", ")

const underLoad = (
  world: World,
  options: RunOptions,
  load: Load,
  accounts: ReadonlyMap<string, Account>,
  { broken, requesting }: { requesting: (goesOn: () => boolean) => Promise<void>; broken: () => void }
) =>
  Effect.gen(function* () {
    const done: Done = { ...NO_FAULTS }
    const deadline = Date.now() + options.minutes * 60_000
    let over = false
    const working = Array.from({ length: options.clients }, (_, worker) =>
      work({ world, load, accounts, seed: options.seed, worker, goesOn: () => !over })
    )
    const videos = requesting(() => !over)
    const progress = Effect.gen(function* () {
      yield* Effect.sleep("15 seconds")
      options.say?.(progressOf(done, load))
    })
    const faults = carryOutPlan(world, planOf(options.seed, options), done, () => Date.now() < deadline)
    yield* Effect.raceFirst(faults, Effect.forever(progress)).pipe(
      Effect.ensuring(
        Effect.promise(() => {
          over = true
          broken()
          return Promise.all([...working, videos])
        })
      )
    )
    return done
  })

/** What a gateway prints at its start beside its log. */
const usual = ["tollgate cannot start", "There is no account yet", "npm run admin", "The command prints"]

/** An error of the log, or the last words of a process that ended on its own; not that its database was away at the start. */
const isError = (line: string): boolean =>
  line.startsWith("{")
    ? /"level":"(ERROR|FATAL)"/.test(line)
    : line.trim() !== "" && !usual.some((words) => line.trim().startsWith(words))

/** Does all of it and answers what it came to; everything it started ends with the scope. */
export const run = (options: RunOptions): Effect.Effect<Report, unknown, Scope.Scope> =>
  Effect.gen(function* () {
    const startedAt = Date.now()
    const { counts } = options
    const took: Record<Part, number> = { starting: 0, breaking: 0, ending: 0, resting: 0, auditing: 0 }
    let since = startedAt
    const ended = (part: Part) => {
      const now = Date.now()
      took[part] = now - since
      since = now
    }
    const world = yield* startWorld({
      gateways: options.gateways,
      partitions: counts.partitions > 0,
      steps: counts.steps > 0,
      standby: counts.failovers > 0,
      smallDisk: counts.fills > 0
    })
    const opened = yield* Effect.forEach(purses, ({ credit, name }) => world.open(name, credit))
    const accounts = new Map(opened.map((account) => [account.name, account]))
    const load = emptyLoad()
    const { gateways, videoHost } = world
    const [videoOwner, handed] = [
      yield* world.open(PURSE.name, PURSE.credit),
      [] as Array<VideoNotes["handed"][number]>
    ]
    const ports = gateways.map(({ port }) => port)
    yield* subscribe(videoHost, ports[0] ?? 0, videoOwner.key)
    ended("starting")
    const done = yield* underLoad(world, options, load, accounts, {
      requesting: (goesOn) => requestVideos(handed, { ports, key: videoOwner.key, seed: options.seed, goesOn }),
      broken: () => ended("breaking")
    })
    ended("ending")
    options.say?.(`${progressOf(done, load)}; at rest`)
    const sql = yield* world.sql
    yield* settleVideos(sql, videoHost)
    yield* untilNoHold(world)
    ended("resting")
    options.say?.("all holds have ended, or had their time")
    const evidence = yield* evidenceOf(world, load, opened, yield* videosOf(sql, videoHost, videoOwner.id, handed))
    const violations = audit(evidence)
    ended("auditing")
    return {
      options,
      done,
      evidence,
      violations,
      parts: took,
      seconds: Math.round((Date.now() - startedAt) / 1000),
      logs: world.gateways.map((gateway) => gateway.log().filter((line) => line.startsWith("{"))),
      logged: world.gateways.flatMap((gateway) => gateway.log()).filter(isError)
    }
  })
