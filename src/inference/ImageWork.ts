import { Context, Effect, Layer, Result } from "effect"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { type Failure, failure, invalid, type Reason } from "../domain/Failure.ts"
import type { Model } from "../domain/Model.ts"
import { Media } from "../platform/files/Media.ts"
import { AnswerMemory, type MemoryReservation, type MemoryRequest } from "../providers/pool/AnswerMemory.ts"
import { MAX_IMAGE_BYTES } from "../providers/wire/ImageParts.ts"
import type { WorkAttempt } from "../providers/pool/ProviderPool.ts"
import type { ImageResult, ImagesWork, ImageForm, ReturnedImage } from "../domain/Work.ts"
import { MAX_KEPT_BYTES } from "./Answer.ts"
import { PromptImages } from "./PromptImages.ts"
import type { PaidRequest } from "./Request.ts"
import { Work, type WorkAnswer } from "./Work.ts"

/** A paid request for images. */
export interface ImagesRequest extends PaidRequest {
  /** The work without the bytes of the image to edit. */
  readonly work: Omit<ImagesWork, "images">
  /** The image to edit, as a URL or a data URL. Errors call it `image`. */
  readonly image: string | undefined
  readonly form: ImageForm
  /** Receives the memory reservation of images that are returned as bytes. The caller may keep it until the response is read. */
  readonly onRoom?: (reservation: MemoryReservation) => void
}

/** Images as received, and as they are returned. */
interface Images {
  readonly drawn: ImageResult["images"]
  readonly images: ReadonlyArray<ReturnedImage>
}

/** Whether the model supports the request. For models without images, planning reports the error. */
const modalityOf = (model: Model | undefined, edits: boolean): Result.Result<"image" | "image_edit", Failure> => {
  if (model?.modality === "image_edit") {
    return edits
      ? Result.succeed(model.modality)
      : Result.fail(invalid("image", `is required, because ${model.id} edits images`))
  }
  return edits && model?.modality === "image" && !model.supportedParameters.includes("image")
    ? Result.fail(invalid("image", `must be absent, because ${model.id} does not edit images`))
    : Result.succeed("image")
}

/** For the caller, any temporary provider problem is a failed image. Permanent ones stay unchanged. */
const failed = (reason: Reason): Reason => {
  const made = (detail: string, retryAfterSeconds?: number): Reason => ({
    _tag: "GenerationFailed",
    detail,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds })
  })
  switch (reason._tag) {
    case "UpstreamError":
      return made(reason.detail, reason.retryAfterSeconds)
    case "UpstreamTimeout":
      return made("no provider answered in time")
    case "NoProviderAvailable":
      return reason.retryAfterSeconds === undefined ? reason : made(reason.detail, reason.retryAfterSeconds)
    default:
      return reason
  }
}

const hostsNone = failure({
  _tag: "UnsupportedParameter",
  param: "response_format",
  detail: "Images at a URL are stored, which zero_retention forbids; request b64_json"
})

/** How long to wait for the memory of images, in milliseconds. */
const MEMORY_WAIT_MS = 60_000

/** The memory reservation for images. */
const memoryOf = (accountId: string, { n }: Pick<ImagesWork, "n">): MemoryRequest => ({
  accountId,
  maxBodyBytes: n * MAX_IMAGE_BYTES,
  waitMs: MEMORY_WAIT_MS
})

const revised = ({ revisedPrompt }: { readonly revisedPrompt?: string | undefined }) =>
  revisedPrompt === undefined ? {} : { revisedPrompt }

const givesBytes = (form: ImageForm, model: Model | undefined): boolean =>
  form === "b64_json" || (form === "usual" && model?.id.startsWith("gpt-image-") === true)

const base64Of = ({ buffer, byteLength, byteOffset }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString("base64")

/** Stores images under URLs of their own. If one cannot be stored, none is. */
const storeImages = (media: Media["Service"], accountId: string, drawn: ImageResult["images"], withBytes: boolean) => {
  const ids: Array<string> = []
  const clear = Effect.suspend(() =>
    Effect.forEach(ids, (id) => Effect.ignore(media.remove(accountId, id)), { discard: true })
  )
  return Effect.forEach(
    drawn,
    (image) => {
      const { bytes, contentType } = image
      return Effect.map(media.store({ bytes, contentType, accountId, purpose: "image" }), ({ id }): ReturnedImage => {
        ids.push(id)
        return { url: media.urlOf(id), ...(withBytes ? { base64: base64Of(bytes) } : {}), ...revised(image) }
      })
    },
    { concurrency: 4 }
  ).pipe(
    Effect.tapError(() => clear),
    // The cause of a slow store may also delay the removal, so nothing waits for that.
    Effect.onInterrupt(() => Effect.forkDetach(clear)),
    Effect.mapError(() => failure({ _tag: "StoreUnavailable" }))
  )
}

const inline = (image: ImageResult["images"][number]): ReturnedImage => ({
  base64: base64Of(image.bytes),
  ...revised(image)
})

/**
 * For stored images, the replay stores the URLs. For others it stores the bytes, unless they are too long; then they are not even
 * serialized.
 */
const storedFormOf = ({ images }: Images): object | undefined => {
  if (images.every(({ url }) => url !== undefined))
    return images.map((image) => ({ url: image.url!, ...revised(image) }))
  const characters = images.reduce((sum, image) => sum + (image.base64?.length ?? 0), 0)
  return characters > MAX_KEPT_BYTES ? undefined : images
}

/** An image with the bytes at its URL, unless these are no longer stored. */
const withStoredBytes = (media: Media["Service"], image: ReturnedImage): Effect.Effect<ReturnedImage, Failure> => {
  const id = image.url?.split("/").at(-1)
  if (id === undefined || image.base64 !== undefined) return Effect.succeed(image)
  return Effect.mapBoth(media.read(id), {
    onSuccess: (stored) => (stored === undefined ? image : { ...image, base64: base64Of(stored.bytes) }),
    onFailure: () => failure({ _tag: "StoreUnavailable" })
  })
}

/**
 * Images, charged up front for the requested number. Images that were not made are refunded. The client receives them at a URL for as
 * long as the service keeps files, or as bytes in the response. An image to edit is downloaded once, after the charge; if that fails,
 * everything is refunded.
 */
export class ImageWork extends Context.Service<
  ImageWork,
  { readonly make: (request: ImagesRequest) => Effect.Effect<WorkAnswer<ReadonlyArray<ReturnedImage>>, Failure> }
>()("tollgate/inference/ImageWork") {
  static readonly layer = Layer.effect(
    ImageWork,
    Effect.gen(function* () {
      const catalogue = yield* Catalogue
      const media = yield* Media
      const work = yield* Work
      const sources = yield* PromptImages
      const memory = yield* AnswerMemory
      const make = Effect.fnUntraced(function* (request: ImagesRequest) {
        const { form, image, onRoom, principal, work: imagesWork } = request
        const asAddress = form !== "b64_json"
        if (asAddress && request.policy.dataPolicy === "zero_retention") return yield* hostsNone
        const source = image === undefined ? undefined : { url: image, field: "image" }
        const model = catalogue.find(request.model)
        const problem = source && sources.checkOne(source, model)
        if (problem !== undefined) return yield* Effect.fail(problem)
        const withBytes = givesBytes(form, model)
        const modality = yield* Effect.fromResult(modalityOf(model, source !== undefined))
        const attempt =
          (images: ImagesWork["images"]): WorkAttempt<Images> =>
          (provider, call) => {
            const drawing = provider.makeImages?.(call, { ...imagesWork, images })
            return (
              drawing && Effect.map(drawing, (drawn) => ({ drawn: drawn.images.slice(0, imagesWork.n), images: [] }))
            )
          }
        const answer = yield* work.run<Images>({
          ...request,
          modality,
          charge: true,
          bound: { kind: "units", units: imagesWork.n },
          pixels: imagesWork.size && imagesWork.size.width * imagesWork.size.height,
          ask: Effect.andThen(
            Effect.map(memory.take(memoryOf(principal.accountId, imagesWork)), (reservation) => {
              if (withBytes) onRoom?.(reservation)
            }),
            source === undefined
              ? Effect.succeed(attempt([]))
              : Effect.map(sources.read(principal.accountId, [source], model), attempt)
          ),
          used: ({ drawn, images }) => drawn.length + images.length,
          counted: () => imagesWork.n,
          empty: ({ drawn }) => (drawn.length === 0 ? { _tag: "EmptyGeneration" } : undefined),
          deliver: ({ drawn }) => {
            const delivered = asAddress
              ? storeImages(media, principal.accountId, drawn, withBytes)
              : Effect.sync(() => drawn.map(inline))
            return Effect.map(delivered, (images) => ({ drawn: [], images }))
          },
          keep: storedFormOf,
          restore: (images) => ({ drawn: [], images: images as ReadonlyArray<ReturnedImage> }),
          failed
        })
        const { images } = answer.value
        if (!withBytes || !answer.replayed || !asAddress) return { ...answer, value: images }
        const value = yield* Effect.scoped(
          Effect.andThen(
            Effect.mapBoth(memory.take(memoryOf(principal.accountId, imagesWork)), {
              onSuccess: (reservation) => onRoom?.(reservation),
              onFailure: () => failure({ _tag: "Overloaded" })
            }),
            Effect.forEach(images, (image) => withStoredBytes(media, image))
          )
        )
        return { ...answer, value }
      })
      return ImageWork.of({ make })
    })
  )
}
