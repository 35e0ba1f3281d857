import { Data, Effect, Semaphore } from "effect"
import { createHash } from "node:crypto"
import { Worker } from "node:worker_threads"
import { ProviderError, type ProviderFault } from "../Provider.ts"
import type { Drawn, DrawWork, WorkCall } from "../Work.ts"
import type { Drawing } from "./Drawing.ts"
import { pixelsOf } from "./Pixels.ts"
import { playWork } from "./WorkPlay.ts"

/** Each image has its own thread, and a machine has few cores. */
const AT_A_TIME = 2

/** The default size. */
const SIDE = 1_024

/** The largest source image that is shown, in pixels: decoded, it takes four bytes a pixel. */
const MAX_SOURCE_PIXELS = 32 * 1_048_576

const turns = Semaphore.makeUnsafe(AT_A_TIME)

/** An image could not be drawn. */
export class DrawingError extends Data.TaggedError("DrawingError")<{ readonly detail: string }> {}

/** The PNGs of drawings, made in a thread that ends with the effect. */
export const pngsOf = (drawings: ReadonlyArray<Drawing>): Effect.Effect<ReadonlyArray<Uint8Array>, DrawingError> =>
  Effect.callback<ReadonlyArray<Uint8Array>, DrawingError>((resume) => {
    // The thread must not see the process's settings.
    const worker = new Worker(new URL("./DrawWorker.ts", import.meta.url), {
      workerData: drawings,
      env: {},
      execArgv: []
    })
    const pngs: Array<Uint8Array> = []
    worker.on("message", (png: Uint8Array) => {
      pngs.push(png)
      if (pngs.length === drawings.length) resume(Effect.succeed(pngs))
    })
    const failed = (detail: string) => resume(Effect.fail(new DrawingError({ detail })))
    worker.on("error", (error) => failed(String(error)))
    worker.on("exit", () => failed("the thread ended"))
    return Effect.promise(() => worker.terminate())
  }).pipe(turns.withPermit)

/** A 32-bit number that is the same for the same request. */
const seedOf = (model: string, { images, prompt }: DrawWork, index: number): number => {
  const hash = createHash("sha256").update(`${model}\0${prompt}\0${index}`)
  for (const { bytes } of images) hash.update(bytes)
  return hash.digest().readUInt32BE(0)
}

const drawingOf = ({ candidate: { model } }: WorkCall, work: DrawWork, index: number): Drawing => {
  const seed = seedOf(model.id, work, index)
  const [source] = work.images
  const wishes = [work.quality, work.style].filter((wish) => wish !== undefined)
  return {
    width: work.size?.width ?? SIDE,
    height: work.size?.height ?? SIDE,
    lines: [[model.id, `seed ${seed}`, ...wishes].join(" · "), work.prompt],
    seed,
    picture: source?.bytes,
    transparent: work.background === "transparent"
  }
}

/** The parameter of a request that the double cannot honour; undefined if there is none. */
const lackOf = ({ format, images: [source] }: DrawWork): ProviderFault | undefined => {
  const refused = (param: string, detail: string): ProviderFault => ({ _tag: "Refused", status: 400, detail, param })
  if (format !== undefined && format !== "png")
    return refused("output_format", `the sandbox draws no ${format}, only png`)
  if (source === undefined) return undefined
  if (source.contentType === "image/webp") return refused("image", "the sandbox opens no WebP images")
  const pixels = pixelsOf(source.bytes)
  return pixels !== undefined && pixels <= MAX_SOURCE_PIXELS
    ? undefined
    : refused("image", "the sandbox opens images of at most 32 megapixels")
}

/**
 * The double's images: PNGs that show the prompt, the model, the seed and the image to edit. Steering can make it return none, or fewer
 * than requested.
 */
export const draw = (id: string, call: WorkCall, work: DrawWork): Effect.Effect<Drawn, ProviderError> =>
  playWork(id, call, ({ fault, images = Infinity }) => {
    const failed = (fault: ProviderFault) => new ProviderError({ provider: id, fault })
    const lack = lackOf(work)
    if (lack !== undefined) return Effect.fail(failed(lack))
    const count = fault === "empty" ? 0 : Math.min(work.n, images)
    if (count === 0) return Effect.succeed({ images: [] })
    const drawings = Array.from({ length: count }, (_, index) => drawingOf(call, work, index))
    return pngsOf(drawings).pipe(
      Effect.mapError(({ detail }) => failed({ _tag: "Lost", ours: true, detail: `it could not be drawn: ${detail}` })),
      Effect.map((pngs) => ({ images: pngs.map((bytes) => ({ bytes, contentType: "image/png" })) }))
    )
  })
