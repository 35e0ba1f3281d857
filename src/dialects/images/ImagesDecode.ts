import { Result } from "effect"
import { ImageRequest, sidesOf } from "../../../schemas/inference/Images.ts"
import type { Failure } from "../../domain/Failure.ts"
import type { ImageForm, ImagesWork } from "../../domain/Work.ts"
import { decoder } from "../Decode.ts"
import { imageProblem } from "../Images.ts"

/** A decoded request for images, with defaults. */
export interface DecodedImages {
  readonly model: string
  /** The work without the bytes of the image to edit. */
  readonly work: Omit<ImagesWork, "images">
  /** The image to edit: a web URL or a data URL. */
  readonly image: string | undefined
  /** How images are returned: at a URL, as bytes, or the way the model's vendor does. */
  readonly form: ImageForm
}

const decodeWire = decoder(ImageRequest, { strict: true })

/** Decodes a request body. Errors name every invalid or unknown field. */
export const decodeImages = (body: unknown): Result.Result<DecodedImages, Failure> =>
  Result.flatMap(decodeWire(body), (wire) => {
    const image = wire.image ?? undefined
    const problem = image === undefined ? undefined : imageProblem("image", image)
    if (problem !== undefined) return Result.fail(problem)
    return Result.succeed({
      model: wire.model,
      work: {
        prompt: wire.prompt,
        n: wire.n ?? 1,
        size: sidesOf(wire.size ?? "auto"),
        quality: wire.quality ?? undefined,
        format: wire.output_format ?? undefined,
        background: wire.background ?? undefined,
        style: wire.style ?? undefined,
        user: wire.user ?? undefined
      },
      image,
      form: wire.response_format ?? "usual"
    })
  })
