/** What adapters that draw share. */
import { Effect, Result } from "effect"
import { isAnsweredLost } from "./PoolError.ts"
import type { ProviderError } from "./Provider.ts"
import type { Drawn, DrawWork } from "./Work.ts"

/** The longest image that is taken from a provider: several times what eight megapixels come to as a rule. */
export const MAX_IMAGE_BYTES = 25 * 1_048_576

/** The longest answer with so many images in it as base64, and some words beside each. */
export const mostDrawnBytes = (images: number): number => images * (Math.ceil(MAX_IMAGE_BYTES / 3) * 4 + 65_536)

/** A ratio is met where a size is within so much of it: models draw in steps of some pixels. */
const TOLERANCE = 0.03

/** Which of the ratios of width to height, such as `16:9`, a size has. */
export const ratioOf = (ratios: ReadonlyArray<string>, { height, width }: NonNullable<DrawWork["size"]>) =>
  ratios.find((ratio) => {
    const [across = 1, down = 1] = ratio.split(":").map(Number)
    return Math.abs((width * down) / (height * across) - 1) <= TOLERANCE
  })

/**
 * What came of several calls, or why nothing did. Where some of it was made and is lost, that is why: the rest is not to be asked for
 * again either.
 */
export const wholeOf = (
  results: ReadonlyArray<Result.Result<Drawn["images"], ProviderError>>
): Effect.Effect<Drawn, ProviderError> => {
  const failures = results.flatMap((result) => (Result.isFailure(result) ? [result.failure] : []))
  const failed = failures.find(({ fault }) => isAnsweredLost(fault)) ?? failures[0]
  const images = results.flatMap((result) => (Result.isSuccess(result) ? result.success : []))
  return failed !== undefined && images.length === 0 ? Effect.fail(failed) : Effect.succeed({ images })
}
