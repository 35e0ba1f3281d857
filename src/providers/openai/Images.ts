import { Effect, Result } from "effect"
import { imageTypeOf } from "../../domain/ImageType.ts"
import { targetOf } from "../../platform/outbound/OutboundCall.ts"
import { mostImageBytes } from "../wire/ImageParts.ts"
import type { HttpWork } from "../wire/HttpWork.ts"
import { listOf, objectOf, parseJson, textIn } from "../wire/Json.ts"
import type { Provider, WorkCall } from "../Provider.ts"
import type { ProviderError, ProviderFault } from "../ProviderError.ts"
import type { ImageResult, ImagesWork } from "../../domain/Work.ts"
import { endUserOf } from "./EndUser.ts"
import { faultIn } from "./Failure.ts"
import { type FormFile, formOf } from "./Form.ts"

/** The size of ten nearly incompressible images of 1536×1024 pixels in base64, in bytes. */
const MAX_BODY_BYTES = 96 * 1024 * 1024

/** Whether the host is OpenAI itself, or another host with its API and any models. */
export interface ImageOptions {
  readonly flavour: "openai" | "compatible"
}

type Fields = Readonly<Record<string, string | number>>

/** OpenAI's current quality names for those of its withdrawn models. */
const qualities: Readonly<Record<string, string>> = { standard: "medium", hd: "high" }

/**
 * The request fields beside the images to edit. OpenAI's own models always return base64, reject the field that asks for it, and have
 * no styles. Other hosts receive all fields as given.
 */
export const encodeImages = (
  model: string,
  work: ImagesWork,
  { flavour }: ImageOptions
): Result.Result<Fields, ProviderFault> => {
  const { background, format, n, prompt, quality, size, style, user } = work
  const own = flavour === "openai"
  if (own && style !== undefined) {
    return Result.fail({
      _tag: "Refused",
      status: 400,
      detail: "it has no styles; the prompt can say one",
      param: "style"
    })
  }
  return Result.succeed({
    model,
    prompt,
    n,
    ...(size === undefined ? {} : { size: `${size.width}x${size.height}` }),
    ...(quality === undefined ? {} : { quality: own ? (qualities[quality] ?? quality) : quality }),
    ...(format === undefined ? {} : { output_format: format }),
    ...(background === undefined ? {} : { background }),
    ...(style === undefined ? {} : { style }),
    ...(own ? {} : { response_format: "b64_json" }),
    ...(user === undefined ? {} : { user: endUserOf(user) })
  })
}

/** Images at a host with OpenAI's `/images/generations` and `/images/edits` under `baseUrl`. */
export const makeImages = (
  work: HttpWork,
  baseUrl: string,
  options: ImageOptions
): NonNullable<Provider["makeImages"]> => {
  const targets = { generations: targetOf(`${baseUrl}/images/generations`), edits: targetOf(`${baseUrl}/images/edits`) }
  return Effect.fnUntraced(function* (
    call: WorkCall,
    imagesWork: ImagesWork
  ): Effect.fn.Return<ImageResult, ProviderError> {
    const fields = encodeImages(call.candidate.offer.upstreamId, imagesWork, options)
    if (Result.isFailure(fields)) return yield* Effect.fail(work.error(fields.failure))
    const maxBodyBytes = Math.min(MAX_BODY_BYTES, mostImageBytes(imagesWork.n))
    const answer = { accept: "application/json", makes: true, maxBodyBytes } as const
    const body =
      imagesWork.images.length === 0
        ? yield* work.post(call, { ...answer, target: targets.generations, body: JSON.stringify(fields.success) })
        : yield* work.post(call, { ...answer, target: targets.edits, ...formOf(fields.success, filesOf(imagesWork)) })
    return yield* decode(work, body, imagesWork.n)
  })
}

/** A single image is sent under its name, several in a list of that name. */
const filesOf = ({ images }: ImagesWork): ReadonlyArray<FormFile> =>
  images.map(({ bytes, contentType }, index) => ({
    name: images.length === 1 ? "image" : "image[]",
    filename: `image-${index}.${contentType.slice("image/".length)}`,
    contentType,
    bytes
  }))

const decode = ({ error }: HttpWork, body: Uint8Array, n: number): Effect.Effect<ImageResult, ProviderError> => {
  const malformed = (detail: string) => Effect.fail(error({ _tag: "Malformed", detail }))
  const answer = objectOf(parseJson(body)) ?? {}
  if (!Array.isArray(answer["data"])) {
    const fault = faultIn(answer)
    return fault === undefined ? malformed("an answer without data") : Effect.fail(error(fault))
  }
  const images: Array<ImageResult["images"][number]> = []
  for (const one of listOf(answer["data"]).slice(0, n)) {
    const image = objectOf(one) ?? {}
    const bytes = Buffer.from(textIn(image, "b64_json") ?? "", "base64")
    const contentType = imageTypeOf(bytes)
    if (contentType === undefined) return malformed("invalid image data")
    const revisedPrompt = textIn(image, "revised_prompt")
    images.push({ bytes, contentType, ...(revisedPrompt === undefined ? {} : { revisedPrompt }) })
  }
  return Effect.succeed({ images })
}
