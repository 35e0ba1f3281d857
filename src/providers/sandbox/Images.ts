import { Effect } from "effect"
import { createHash } from "node:crypto"
import { ProviderError, type ProviderFault } from "../ProviderError.ts"
import type { ImageResult, ImagesWork } from "../../domain/Work.ts"
import type { WorkCall } from "../Provider.ts"
import type { Drawing } from "./Drawing.ts"
import { drawFiles } from "./DrawingThread.ts"
import { imagesRefusalOf } from "./Refusals.ts"
import { playWork } from "./WorkPlay.ts"

/** The default size, in pixels. */
const SIDE = 1_024

/** A 32-bit number that is the same for the same request. */
const seedOf = (model: string, { images, prompt }: ImagesWork, index: number): number => {
  const hash = createHash("sha256").update(`${model}\0${prompt}\0${index}`)
  for (const { bytes } of images) hash.update(bytes)
  return hash.digest().readUInt32BE(0)
}

const drawingOf = ({ candidate: { model } }: WorkCall, work: ImagesWork, index: number): Drawing => {
  const seed = seedOf(model.id, work, index)
  const sources = work.images.length === 0 ? undefined : `${work.images.length} source images`
  const notes = [model.id, `seed ${seed}`, work.quality, work.style, sources].filter((note) => note !== undefined)
  return {
    width: work.size?.width ?? SIDE,
    height: work.size?.height ?? SIDE,
    lines: [notes.join(" · "), work.prompt],
    seed,
    transparent: work.background === "transparent"
  }
}

/**
 * The double's images: PNGs that show the prompt, the model, the seed and the number of source images. Steering can make it return
 * none, or fewer than requested.
 */
export const draw = (id: string, call: WorkCall, work: ImagesWork): Effect.Effect<ImageResult, ProviderError> =>
  playWork(id, call, ({ fault, images = Infinity }) => {
    const failed = (fault: ProviderFault) => new ProviderError({ provider: id, fault })
    const refusal = imagesRefusalOf(id, call, work)
    if (refusal !== undefined) return Effect.fail(failed(refusal))
    if (work.format !== undefined && work.format !== "png") {
      const detail = `the sandbox draws no ${work.format}, only png`
      return Effect.fail(failed({ _tag: "Refused", status: 400, detail, param: "output_format" }))
    }
    const count = fault === "empty" ? 0 : Math.min(work.n, images)
    if (count === 0) return Effect.succeed({ images: [] })
    return drawFiles({ drawings: Array.from({ length: count }, (_, index) => drawingOf(call, work, index)) }).pipe(
      Effect.mapError(({ detail }) => failed({ _tag: "Lost", ours: true, detail: `it could not be drawn: ${detail}` })),
      Effect.map((pngs) => ({ images: pngs.map((bytes) => ({ bytes, contentType: "image/png" })) }))
    )
  })
