/** Functions that image adapters share. */
import { Effect, Result } from "effect"
import type { ProviderError } from "../ProviderError.ts"
import type { ImageResult, ImagesWork } from "../../domain/Work.ts"

/** The largest image the gateway accepts from a provider, in bytes: several times the usual size of eight megapixels. */
export const MAX_IMAGE_BYTES = 25 * 1_048_576

/** The maximum length of an answer with this many images in base64 and some text for each, in bytes. */
export const mostImageBytes = (images: number): number => images * (Math.ceil(MAX_IMAGE_BYTES / 3) * 4 + 65_536)

/** The tolerance for aspect ratios: models draw in steps of several pixels. */
const TOLERANCE = 0.03

/** The aspect ratio of a size, such as `16:9`, out of those that a model supports. */
export const ratioOf = (ratios: ReadonlyArray<string>, { height, width }: NonNullable<ImagesWork["size"]>) =>
  ratios.find((ratio) => {
    const [across = 1, down = 1] = ratio.split(":").map(Number)
    return Math.abs((width * down) / (height * across) - 1) <= TOLERANCE
  })

/**
 * The result of several calls, or the reason why there is none. If some images were made and lost, that is the reason, because the
 * gateway must not pay for the rest a second time.
 */
export const wholeOf = (
  results: ReadonlyArray<Result.Result<ImageResult["images"], ProviderError>>
): Effect.Effect<ImageResult, ProviderError> => {
  const failures = results.flatMap((result) => (Result.isFailure(result) ? [result.failure] : []))
  const failed = failures.find(({ fault }) => fault._tag === "Lost") ?? failures[0]
  const images = results.flatMap((result) => (Result.isSuccess(result) ? result.success : []))
  return failed !== undefined && images.length === 0 ? Effect.fail(failed) : Effect.succeed({ images })
}
