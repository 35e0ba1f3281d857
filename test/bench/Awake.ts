/** Processes that keep the processors busy while nobody else wants them. */
import { Effect, type Scope } from "effect"
import { writeFileSync } from "node:fs"
import { BenchError } from "./BenchError.ts"
import { allowedCores, onPath } from "./Machine.ts"
import { spawned } from "./Processes.ts"

/** The least that a session can have beside others, where the kernel shares a processor by sessions first. */
const LEAST = "19"

/**
 * Keeps every core that the bench may use from halting until the scope closes, by a process of the idle policy on each: it gives way
 * at once to whoever wakes. Fails where the system has no such policy.
 */
export const keepAwake: Effect.Effect<void, BenchError, Scope.Scope> = Effect.gen(function* () {
  if (!onPath("taskset") || !onPath("chrt")) return yield* new BenchError({ message: "--awake needs taskset and chrt" })
  for (const core of allowedCores()) {
    const child = yield* spawned({
      name: "what keeps a core awake",
      program: "chrt",
      args: ["--idle", "0", "sh", "-c", "while :; do :; done"],
      cores: String(core),
      session: true
    })
    yield* Effect.ignore(Effect.sync(() => writeFileSync(`/proc/${child.pid}/autogroup`, LEAST)))
  }
})
