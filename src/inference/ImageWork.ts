import { Context, Effect, Layer, Result } from "effect"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { type Failure, failure, invalid, type Reason } from "../domain/Failure.ts"
import type { Model } from "../domain/Model.ts"
import { Media } from "../platform/Media.ts"
import { AnswerRoom, type Place, type RoomAsked } from "../providers/AnswerRoom.ts"
import { MAX_IMAGE_BYTES } from "../providers/DrawParts.ts"
import type { WorkAttempt } from "../providers/ProviderPool.ts"
import type { Drawn, DrawWork } from "../providers/Work.ts"
import { MAX_KEPT_BYTES } from "./Answer.ts"
import { PromptImages } from "./PromptImages.ts"
import type { PaidRequest } from "./Request.ts"
import { Work, type WorkAnswer } from "./Work.ts"

/** A paid request for images. */
export interface ImagesRequest extends PaidRequest {
  /** What is to be done, but for the bytes of the image to be edited. */
  readonly work: Omit<DrawWork, "images">
  /** The image to be edited, as a web address or a data URL. The request calls it `image`. */
  readonly image: string | undefined
  /** Whether images are given as addresses; as bytes otherwise. */
  readonly hosted: boolean
  /** Told of the room of images that are given as bytes, which whoever gives them out may keep until they are read. */
  readonly onRoom?: (place: Place) => void
}

/** An image as it is given out: by its address, or its bytes as base64. */
export type GivenImage = ({ readonly url: string } | { readonly base64: string }) & {
  readonly revisedPrompt?: string | undefined
}

/** Images as they came, and as they are given out: the ones become the others. */
interface Images {
  readonly drawn: Drawn["images"]
  readonly given: ReadonlyArray<GivenImage>
}

/** Whether a model does what is asked; what is no image model is for the plan to say. */
const modalityOf = (model: Model | undefined, edits: boolean): Result.Result<"image" | "image_edit", Failure> => {
  if (model?.modality === "image_edit") {
    return edits
      ? Result.succeed(model.modality)
      : Result.fail(invalid("image", `${model.id} edits images and needs one`))
  }
  return edits && model?.modality === "image" && !model.supportedParameters.includes("image")
    ? Result.fail(invalid("image", `${model.id} does not edit images`))
    : Result.succeed("image")
}

/** However it came about that nobody makes it at present, it is the image that failed. What does not pass by itself stays what it is. */
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
  detail: "Images at an address are stored, and nothing may be under zero_retention: ask for b64_json"
})

/** How long room for images is waited for. */
const ROOM_WAIT_MS = 60_000

/** The room that images take. */
const roomOf = (accountId: string, { n }: Pick<DrawWork, "n">): RoomAsked => ({
  accountId,
  maxBodyBytes: n * MAX_IMAGE_BYTES,
  waitMs: ROOM_WAIT_MS
})

const revised = ({ revisedPrompt }: Drawn["images"][number]) => (revisedPrompt === undefined ? {} : { revisedPrompt })

/** Stores images under addresses of their own. Where one cannot be stored, none is. */
const hosted = (media: Media["Service"], accountId: string, drawn: Drawn["images"]) => {
  const ids: Array<string> = []
  const clear = Effect.suspend(() =>
    Effect.forEach(ids, (id) => Effect.ignore(media.remove(accountId, id)), { discard: true })
  )
  return Effect.forEach(
    drawn,
    (image) => {
      const { bytes, contentType } = image
      return Effect.map(media.store({ bytes, contentType, accountId, purpose: "image" }), ({ id }): GivenImage => {
        ids.push(id)
        return { url: media.urlOf(id), ...revised(image) }
      })
    },
    { concurrency: 4 }
  ).pipe(
    Effect.tapError(() => clear),
    // Whatever keeps one from being stored in time may keep another from being removed: nobody waits for that.
    Effect.onInterrupt(() => Effect.forkDetach(clear)),
    Effect.mapError(() => failure({ _tag: "StoreUnavailable" }))
  )
}

const inline = (image: Drawn["images"][number]): GivenImage => {
  const { buffer, byteLength, byteOffset } = image.bytes
  return { base64: Buffer.from(buffer, byteOffset, byteLength).toString("base64"), ...revised(image) }
}

/** Images too long to be kept are not even written out. */
const kept = ({ given }: Images): object | undefined => {
  const characters = given.reduce((sum, image) => sum + ("url" in image ? 0 : image.base64.length), 0)
  return characters > MAX_KEPT_BYTES ? undefined : given
}

/**
 * Images, charged up front for as many as are asked for and given back for those that were not made. They are the caller's to keep:
 * at an address for as long as the service keeps files, or as bytes in the answer. An image to be edited is fetched once, after the
 * charge; where it cannot be had, everything is given back.
 */
export class ImageWork extends Context.Service<
  ImageWork,
  { readonly make: (request: ImagesRequest) => Effect.Effect<WorkAnswer<ReadonlyArray<GivenImage>>, Failure> }
>()("tollgate/inference/ImageWork") {
  static readonly layer = Layer.effect(
    ImageWork,
    Effect.gen(function* () {
      const catalogue = yield* Catalogue
      const media = yield* Media
      const work = yield* Work
      const sources = yield* PromptImages
      const room = yield* AnswerRoom
      const make = Effect.fnUntraced(function* (request: ImagesRequest) {
        const { hosted: asAddress, image, onRoom, principal, work: asked } = request
        if (asAddress && request.policy.dataPolicy === "zero_retention") return yield* hostsNone
        const source = image === undefined ? undefined : { url: image, field: "image" }
        const problem = source && sources.checkOne(source)
        if (problem !== undefined) return yield* Effect.fail(problem)
        const modality = yield* Effect.fromResult(modalityOf(catalogue.find(request.model), source !== undefined))
        const attempt =
          (images: DrawWork["images"]): WorkAttempt<Images> =>
          (provider, call) => {
            const drawing = provider.draw?.(call, { ...asked, images })
            return drawing && Effect.map(drawing, (drawn) => ({ drawn: drawn.images.slice(0, asked.n), given: [] }))
          }
        const answer = yield* work.run<Images>({
          ...request,
          modality,
          charge: true,
          bound: { kind: "units", units: asked.n },
          pixels: asked.size && asked.size.width * asked.size.height,
          ask: Effect.andThen(
            Effect.map(room.take(roomOf(principal.accountId, asked)), (place) => {
              if (!asAddress) onRoom?.(place)
            }),
            source === undefined
              ? Effect.succeed(attempt([]))
              : Effect.map(sources.read(principal.accountId, [source]), attempt)
          ),
          used: ({ given }) => given.length,
          counted: () => asked.n,
          empty: ({ drawn }) => (drawn.length === 0 ? { _tag: "EmptyGeneration" } : undefined),
          deliver: ({ drawn }) => {
            const given = asAddress ? hosted(media, principal.accountId, drawn) : Effect.sync(() => drawn.map(inline))
            return Effect.map(given, (images) => ({ drawn: [], given: images }))
          },
          keep: kept,
          restore: (images) => ({ drawn: [], given: images as ReadonlyArray<GivenImage> }),
          failed
        })
        return { ...answer, value: answer.value.given }
      })
      return ImageWork.of({ make })
    })
  )
}
