import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { makeClock, missing } from "./Clock.ts"
import { announceSkip } from "./Skips.ts"

announceSkip("the stepping of a clock", missing)

/** Prints wall time and monotonic time of a Node process at each line of input. */
const program = `process.stdin.on("data", () => console.log(JSON.stringify([Date.now(), performance.now()])))`

describe.skipIf(missing !== undefined)("a clock of a test's own", () => {
  it.live("steps the wall time of a running process and leaves its monotonic time alone", () =>
    Effect.gen(function* () {
      const clock = yield* makeClock
      const child = yield* Effect.acquireRelease(
        Effect.sync(() =>
          spawn(process.execPath, ["-e", program], {
            env: { ...clock.environment },
            stdio: ["pipe", "pipe", "inherit"]
          })
        ),
        (started) => Effect.sync(() => started.kill("SIGKILL"))
      )
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const times = Effect.promise(async () => {
        child.stdin.write("\n")
        const line = await lines.next()
        return JSON.parse(line.value ?? "null") as readonly [wall: number, monotonic: number]
      })
      const [, begun] = yield* times
      const startedAt = performance.now()
      for (const aheadMs of [90_000, -120_000, 1_500, 0]) {
        yield* clock.set(aheadMs)
        assert.strictEqual(clock.ahead(), aheadMs)
        const [wall, monotonic] = yield* times
        assert.closeTo(wall - Date.now(), aheadMs, 500)
        assert.closeTo(monotonic - begun, performance.now() - startedAt, 500)
      }
    }).pipe(Effect.scoped)
  )
})
