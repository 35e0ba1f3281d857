import { Data, Effect, Semaphore } from "effect"
import { Worker } from "node:worker_threads"
import type { Scene } from "./FilmTicket.ts"

/** A clip of 15 seconds takes three seconds. A machine that needs this long is unusable. */
const LIMIT = "1 minute"

/** How many clips are cached for repeated downloads. A clip has some hundred kilobytes. */
const KEPT = 8

/** No clip was made. `detail` is for operators. */
export class ClipError extends Data.TaggedError("ClipError")<{ readonly detail: string }> {}

const failed = (detail: string) => Effect.fail(new ClipError({ detail }))

/** A thread keeps a core busy, and a machine has few. */
const turns = Semaphore.makeUnsafe(1)

const kept = new Map<string, Uint8Array>()

const keep = (key: string, clip: Uint8Array): void => {
  kept.set(key, clip)
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT) return
    kept.delete(oldest)
  }
}

const made = (scene: Scene): Effect.Effect<Uint8Array, ClipError> =>
  Effect.callback<Uint8Array, ClipError>((resume) => {
    // The thread must not see the process's settings.
    const worker = new Worker(new URL("./FilmWorker.ts", import.meta.url), {
      workerData: scene,
      env: {},
      execArgv: []
    })
    worker.on("message", (clip: Uint8Array) => {
      resume(Effect.succeed(clip))
      void worker.terminate()
    })
    worker.on("error", (error) => resume(failed(String(error))))
    worker.on("exit", () => resume(failed("the thread ended")))
    return Effect.promise(() => worker.terminate())
  }).pipe(Effect.timeoutOrElse({ duration: LIMIT, orElse: () => failed(`it took more than ${LIMIT}`) }))

/** The clip of a scene, made in a thread that ends with the effect, one at a time. The last eight clips are cached. */
export const clipInThread = (scene: Scene): Effect.Effect<Uint8Array, ClipError> =>
  Effect.suspend(() => {
    const key = JSON.stringify(scene)
    const clip = kept.get(key)
    if (clip !== undefined) return Effect.succeed(clip)
    return Effect.tap(made(scene), (clip) => Effect.sync(() => keep(key, clip)))
  }).pipe(turns.withPermit)
