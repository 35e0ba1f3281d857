/**
 * Two clocks for tests: the wall clock of a process, which a test steps while monotonic time and every timer go on; and an Effect clock
 * on which one delay lasts until the test ends it.
 */
import { Clock as Clocks, Duration, Effect, Latch, type Scope } from "effect"
import { existsSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryDirectory } from "./Directories.ts"

/** Debian puts it below the library directory of the machine's architecture. */
const library = ["x86_64", "aarch64"]
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path))

/** Why no test can step a clock on this machine; undefined when tests can. */
export const missing: string | undefined =
  library === undefined ? "libfaketime is not installed (Debian: apt-get install faketime)" : undefined

/** The library reads its file when the process first asks for the time in a second. */
const SEEN_WITHIN = "1100 millis"

export interface Clock {
  /** Variables for the environment of the process that uses the clock. */
  readonly environment: Readonly<Record<string, string>>
  /** Sets how far the clock is ahead of the machine's, in milliseconds; a negative number is behind. Returns once the process sees it. */
  readonly set: (aheadMs: number) => Effect.Effect<void>
  /** How far the clock is ahead, in milliseconds. */
  readonly ahead: () => number
}

/** A clock that at first agrees with the machine's. The process must end before the scope closes, which removes the clock's file. */
export const makeClock: Effect.Effect<Clock, never, Scope.Scope> = Effect.gen(function* () {
  if (library === undefined) return yield* Effect.die(new Error(missing))
  const directory = yield* temporaryDirectory
  const file = join(directory, "offset")
  let ahead = 0
  const write = (aheadMs: number) =>
    Effect.sync(() => {
      ahead = aheadMs
      const seconds = (aheadMs / 1000).toFixed(3)
      // A rename, because the process must never read half a line.
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

/** A clock on which sleeps of exactly this length last until the test runs `end`. Everything else runs in real time. */
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
