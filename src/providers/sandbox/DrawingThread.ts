import { Data, Effect, Semaphore } from "effect"
import { Worker } from "node:worker_threads"
import type { Drawing } from "./Drawing.ts"
import type { ClipContent } from "./VideoTicket.ts"

/** A thread keeps a core busy, and a machine has few. */
const THREADS = 2

const turns = Semaphore.makeUnsafe(THREADS)

/** What a thread makes: one PNG for each drawing, or one clip. */
export type DrawingWork = { readonly drawings: ReadonlyArray<Drawing> } | { readonly scene: ClipContent }

/** An image or a clip could not be drawn. `detail` is for operators. */
export class DrawingError extends Data.TaggedError("DrawingError")<{ readonly detail: string }> {}

/** The files of the work, in order. A thread makes them; it ends with the effect. */
export const drawFiles = (work: DrawingWork): Effect.Effect<ReadonlyArray<Uint8Array>, DrawingError> =>
  Effect.callback<ReadonlyArray<Uint8Array>, DrawingError>((resume) => {
    const count = "scene" in work ? 1 : work.drawings.length
    // The thread must not see the settings of the process.
    const worker = new Worker(new URL("./DrawingWorker.ts", import.meta.url), {
      workerData: work,
      env: {},
      execArgv: []
    })
    const files: Array<Uint8Array> = []
    worker.on("message", (file: Uint8Array) => {
      files.push(file)
      if (files.length === count) resume(Effect.succeed(files))
    })
    const fail = (detail: string) => resume(Effect.fail(new DrawingError({ detail })))
    worker.on("error", (error) => fail(String(error)))
    worker.on("exit", () => fail("the thread ended"))
    return Effect.promise(() => worker.terminate())
  }).pipe(turns.withPermit)
