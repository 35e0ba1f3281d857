import { Effect, Result } from "effect"
import { imageTypeOf } from "../../domain/ImageType.ts"
import { targetOf } from "../../platform/outbound/OutboundCall.ts"
import type { PublicFetch } from "../../platform/outbound/PublicFetch.ts"
import { mostImageBytes, wholeOf } from "../wire/ImageParts.ts"
import type { RefusedAnswer } from "../Failure.ts"
import type { ProviderError, ProviderFault } from "../ProviderError.ts"
import { makeHttpImage } from "../wire/HttpClip.ts"
import type { HttpWork } from "../wire/HttpWork.ts"
import { type JsonObject, listOf, objectOf, parseJson, textIn } from "../wire/Json.ts"
import type { Provider, WorkCall } from "../Provider.ts"
import type { ImagesWork, MediaBytes } from "../../domain/Work.ts"
import { encodeImages } from "./FalImagesEncode.ts"
import { faultOfStatus } from "./Failure.ts"

/** The maximum number of images of any model in one call. */
const MAX_AT_ONCE = 4

/** The size of four images in data URLs, in bytes. */
const MAX_BODY_BYTES = 64 * 1024 * 1024

/**
 * Images by fal's models; each call returns when they are made. More than four images take several parallel calls, and the images of
 * the successful calls are the answer. Images that fail the model's own content check are left out.
 * <https://fal.ai/docs/model-apis/model-endpoints>
 */
export const makeFalImages = (
  work: HttpWork,
  baseUrl: string
): Effect.Effect<NonNullable<Provider["makeImages"]>, never, PublicFetch> =>
  Effect.map(makeHttpImage(work), (read) => (call, asked) => {
    const parts = countsOf(asked.n).map((count) => Effect.result(part({ work, baseUrl, read }, call, asked, count)))
    return Effect.flatMap(Effect.all(parts, { concurrency: "unbounded" }), wholeOf)
  })

const countsOf = (n: number): ReadonlyArray<number> =>
  Array.from({ length: Math.ceil(n / MAX_AT_ONCE) }, (_, index) => Math.min(MAX_AT_ONCE, n - index * MAX_AT_ONCE))

type Images = ReadonlyArray<MediaBytes>

interface Host {
  readonly work: HttpWork
  readonly baseUrl: string
  readonly read: (call: WorkCall, url: string) => Effect.Effect<MediaBytes, ProviderError>
}

const part = Effect.fnUntraced(function* (
  { baseUrl, read, work }: Host,
  call: WorkCall,
  images: ImagesWork,
  count: number
): Effect.fn.Return<Images, ProviderError> {
  const { upstreamId } = call.candidate.offer
  const until = performance.now() + call.clocks.totalMs
  const input = encodeImages(upstreamId, images, count)
  if (Result.isFailure(input)) return yield* Effect.fail(work.error(input.failure))
  const body = yield* work.post(call, {
    target: targetOf(`${baseUrl}/${upstreamId}`),
    accept: "application/json",
    body: JSON.stringify(input.success),
    makes: true,
    maxBodyBytes: Math.min(MAX_BODY_BYTES, mostImageBytes(count))
  })
  const answer = objectOf(parseJson(body))
  if (answer === undefined || !Array.isArray(answer["images"])) {
    return yield* Effect.fail(work.error({ _tag: "Malformed", detail: "an answer without images" }))
  }
  const files = urlsOf(answer).slice(0, count)
  const left = { ...call, clocks: { ...call.clocks, totalMs: Math.max(1, until - performance.now()) } }
  const found = yield* Effect.forEach(files, (url) => Effect.result(imageAt(work, read, left, url)), {
    concurrency: MAX_AT_ONCE
  })
  return (yield* wholeOf(found.map(Result.map((image) => [image])))).images
})

/** The URLs of the images that passed the content check. */
const urlsOf = (answer: JsonObject): ReadonlyArray<string> => {
  const unfit = listOf(answer["has_nsfw_concepts"])
  return listOf(answer["images"]).flatMap((image, index) =>
    unfit[index] === true ? [] : (textIn(objectOf(image) ?? {}, "url") ?? [])
  )
}

const DATA_URL = /^data:[a-z0-9.+/-]+;base64,/i

const imageAt = (
  { error }: HttpWork,
  read: Host["read"],
  call: WorkCall,
  url: string
): Effect.Effect<MediaBytes, ProviderError> => {
  const head = DATA_URL.exec(url.slice(0, 64))?.[0]
  if (head === undefined) return read(call, url)
  const bytes = Buffer.from(url.slice(head.length), "base64")
  const contentType = imageTypeOf(bytes)
  return contentType === undefined
    ? Effect.fail(error({ _tag: "Lost", detail: "the data URL is not an image" }))
    : Effect.succeed({ bytes, contentType })
}

/** The caller's names of fal's fields that an error can name. */
const names: Readonly<Record<string, string>> = {
  prompt: "prompt",
  num_images: "n",
  image_size: "size",
  aspect_ratio: "size",
  output_format: "output_format",
  image_url: "image"
}

/** Interprets a response without a success status. It names the field if fal gives its path in the body. */
export const faultOfImages = (answer: RefusedAnswer, nowMs: number): ProviderFault => {
  const fault = faultOfStatus(answer, nowMs)
  if (fault._tag !== "Refused") return fault
  const [error] = listOf(objectOf(parseJson(answer.body))?.["detail"])
  const place = listOf(objectOf(error)?.["loc"])[1]
  const param = typeof place === "string" ? names[place] : undefined
  return param === undefined ? fault : { ...fault, param }
}
