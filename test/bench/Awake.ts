/** Keeps the processors from halting during a run. */
import { Effect, type Scope } from "effect"
import { closeSync, openSync, writeSync } from "node:fs"
import { BenchError } from "./BenchError.ts"

/** Linux keeps the wake-up latency that root writes to this device for as long as the file stays open. */
const DEVICE = "/dev/cpu_dma_latency"

/** A latency of 0 µs, as a 32-bit number. */
const NONE = Buffer.alloc(4)

const message = `--awake needs Linux and root, to write to ${DEVICE}.`

/**
 * Keeps the processors from halting until the scope closes or the process ends: the kernel polls for work instead. Fails without the
 * device or without root.
 */
export const keepAwake: Effect.Effect<void, BenchError, Scope.Scope> = Effect.asVoid(
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        const held = openSync(DEVICE, "w")
        writeSync(held, NONE)
        return held
      },
      catch: () => new BenchError({ message })
    }),
    (held) => Effect.sync(() => closeSync(held))
  )
)
