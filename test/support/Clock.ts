/**
 * A wall clock that a test can step while a process runs, where monotonic time, and with it every timer, goes on undisturbed; and a clock
 * on which one delay lasts until a test ends it.
 */
import { Clock as Clocks, Duration, Effect, Latch, type Scope } from "effect"
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Debian puts it below the library directory of the machine's architecture. */
const library = ["x86_64", "aarch64"]
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path))

/** Why no test can step a clock on this machine; undefined when tests can. */
export const missing: string | undefined =
  library === undefined ? "libfaketime is not installed (Debian: apt-get install faketime)" : undefined

/** The library reads its file at the first question of each second. */
const SEEN_WITHIN = "1100 millis"

export interface Clock {
  /** Settings for the environment of the process whose clock this is. */
  readonly environment: Readonly<Record<string, string>>
  /** Sets how far the clock is ahead of the machine's, in milliseconds; negative is behind. Returns when the process sees it. */
  readonly set: (aheadMs: number) => Effect.Effect<void>
  /** How far the clock is ahead, in milliseconds. */
  readonly ahead: () => number
}

/** A clock that at first agrees with the machine's. Its file goes with the scope; the process must end before. */
export const makeClock: Effect.Effect<Clock, never, Scope.Scope> = Effect.gen(function* () {
  if (library === undefined) return yield* Effect.die(new Error(missing))
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-clock-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const file = join(directory, "offset")
  let ahead = 0
  const write = (aheadMs: number) =>
    Effect.sync(() => {
      ahead = aheadMs
      const seconds = (aheadMs / 1000).toFixed(3)
      // Renamed into place: the process must never read half a line.
      writeFileSync(`${file}.next`, `${aheadMs < 0 ? seconds : `+${seconds}`}\n`)
      renameSync(`${file}.next`, file)
    })
  yield* write(0)
  return {
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: "0",
      DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1"
    },
    set: (aheadMs) => Effect.andThen(write(aheadMs), Effect.sleep(SEEN_WITHIN)),
    ahead: () => ahead
  }
})

/** A clock on which sleeps of exactly this length end when the test says so. Everything else runs in real time. */
export const holding = (length: Duration.Input) =>
  Effect.gen(function* () {
    const live = yield* Clocks.Clock
    const end = yield* Latch.make()
    const ms = Duration.toMillis(Duration.fromInputUnsafe(length))
    const sleep = (duration: Duration.Duration) =>
      Duration.toMillis(duration) === ms ? end.await : live.sleep(duration)
    const clock: Clocks.Clock = Object.assign(Object.create(live), { sleep })
    return { clock, end: Effect.asVoid(end.open) }
  })
