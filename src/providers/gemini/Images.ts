import { Effect, Result } from "effect"
import { imageTypeOf } from "../../domain/ImageType.ts"
import { mostImageBytes, ratioOf, wholeOf } from "../wire/ImageParts.ts"
import type { HttpWork } from "../wire/HttpWork.ts"
import { listOf, objectOf, parseJson, textIn } from "../wire/Json.ts"
import type { Provider, WorkCall } from "../Provider.ts"
import type { ProviderError, ProviderFault } from "../ProviderError.ts"
import type { ImageResult, ImagesWork, MediaBytes } from "../../domain/Work.ts"
import { faultIn } from "./Failure.ts"

const RATIOS = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"]

/** The maximum number of parallel calls. Each makes one image. */
const AT_A_TIME = 4

const refused = (param: string, detail: string): Result.Result<never, ProviderFault> =>
  Result.fail({ _tag: "Refused", status: 400, detail, param })

/** The first parameter that the models do not support. An automatic quality and an opaque background are what they do anyway. */
const lackOf = ({ background, format, images, quality, style }: ImagesWork): string | undefined => {
  if (quality !== undefined && quality !== "auto") return "quality"
  if (background === "transparent") return "background"
  if (style !== undefined) return "style"
  if (format !== undefined && format !== "png") return "output_format"
  return images.length > 0 ? "image" : undefined
}

/** The body of a call for one image. The size only determines the aspect ratio: an image has about a megapixel. */
export const encodeImages = (work: ImagesWork): Result.Result<string, ProviderFault> => {
  const lack = lackOf(work)
  if (lack !== undefined) return refused(lack, `it does not offer this ${lack}`)
  const aspectRatio = work.size && ratioOf(RATIOS, work.size)
  if (work.size !== undefined && aspectRatio === undefined) {
    return refused("size", `its images have width to height as ${RATIOS.join(", ")}`)
  }
  const generationConfig = {
    responseModalities: ["IMAGE"],
    ...(aspectRatio === undefined ? {} : { imageConfig: { aspectRatio } })
  }
  return Result.succeed(
    JSON.stringify({ contents: [{ role: "user", parts: [{ text: work.prompt }] }], generationConfig })
  )
}

/**
 * Images by Gemini's models, one call each, all within the time limit of one. The images of the successful calls are the answer.
 * <https://ai.google.dev/gemini-api/docs/image-generation>
 */
export const makeImages = (
  work: HttpWork,
  { models, origin }: { readonly origin: string; readonly models: string }
): NonNullable<Provider["makeImages"]> =>
  Effect.fnUntraced(function* (call: WorkCall, imagesWork: ImagesWork): Effect.fn.Return<ImageResult, ProviderError> {
    const encoded = encodeImages(imagesWork)
    if (Result.isFailure(encoded)) return yield* Effect.fail(work.error(encoded.failure))
    const until = performance.now() + call.clocks.totalMs
    const one = Effect.suspend(() => {
      const totalMs = until - performance.now()
      if (totalMs < 1) return Effect.fail(work.error({ _tag: "TimedOut", clock: "total" }))
      return work.post(
        { ...call, clocks: { ...call.clocks, totalMs } },
        {
          target: { origin, path: `${models}/${encodeURIComponent(call.candidate.offer.upstreamId)}:generateContent` },
          accept: "application/json",
          body: encoded.success,
          makes: true,
          maxBodyBytes: mostImageBytes(1)
        }
      )
    })
    const made = Effect.result(Effect.flatMap(one, (body) => imagesIn(work, body)))
    const calls = Array.from({ length: imagesWork.n }, () => made)
    return yield* Effect.flatMap(Effect.all(calls, { concurrency: AT_A_TIME }), wholeOf)
  })

/** An answer without an image means that the image failed the host's own content check. */
const imagesIn = ({ error }: HttpWork, body: Uint8Array): Effect.Effect<ReadonlyArray<MediaBytes>, ProviderError> => {
  const answer = objectOf(parseJson(body)) ?? {}
  const fault = faultIn(answer)
  if (fault !== undefined) return Effect.fail(error(fault))
  if (!Array.isArray(answer["candidates"]) && objectOf(answer["promptFeedback"]) === undefined) {
    return Effect.fail(error({ _tag: "Malformed", detail: "an answer without candidates" }))
  }
  const content = objectOf(objectOf(listOf(answer["candidates"])[0])?.["content"])
  for (const part of listOf(content?.["parts"])) {
    const data = textIn(objectOf(objectOf(part)?.["inlineData"]) ?? {}, "data")
    if (data === undefined) continue
    const bytes = Buffer.from(data, "base64")
    const contentType = imageTypeOf(bytes)
    return contentType === undefined
      ? Effect.fail(error({ _tag: "Malformed", detail: "invalid image data" }))
      : Effect.succeed([{ bytes, contentType }])
  }
  return Effect.succeed([])
}
