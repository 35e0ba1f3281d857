/**
 * Validates the images of prompts before the hold, and downloads them before the provider call, so that no provider downloads on behalf
 * of a caller.
 */
import { Context, Effect, Layer, Result, type Scope } from "effect"
import { type Conversation, hasImages, type ImagePart, type Message, type Part } from "../domain/Conversation.ts"
import { type Failure, invalid, type Reason } from "../domain/Failure.ts"
import {
  gifProblem,
  IMAGE_HEAD_BYTES,
  imageTypeOf,
  inlineImage,
  takesGif,
  takesGifSource
} from "../domain/ImageType.ts"
import type { Model } from "../domain/Model.ts"
import {
  isTransientStatus,
  PublicFetch,
  type PublicFetchError,
  type PublicResponse
} from "../platform/outbound/PublicFetch.ts"
import type { PoolCall } from "../providers/pool/CallKind.ts"
import { PoolError } from "../providers/pool/PoolError.ts"
import type { ProviderPool } from "../providers/pool/ProviderPool.ts"
import type { MediaBytes } from "../domain/Work.ts"

export interface PromptImageLimits {
  /** The largest image, in bytes. */
  readonly imageBytes: number
  /** The maximum total of a request's images, inline ones included. An image that is used several times counts each time. */
  readonly requestBytes: number
  /**
   * The maximum bytes of downloaded images that all requests of this process hold at a time, from the first byte to the end of the
   * answer.
   */
  readonly heldBytes: number
  /** The part of these bytes that one account may use. */
  readonly accountBytes: number
  /** The maximum number of parallel downloads for one account. */
  readonly accountFetches: number
  /** The time limit for all images of one request, in milliseconds. */
  readonly totalMs: number
  /** The maximum number of images in a request. An image that is used twice counts twice. */
  readonly images: number
  /** The maximum number of URLs in a request, so that a caller cannot use the gateway to call many hosts. */
  readonly addresses: number
}

const MIB = 1_048_576

export const promptImageLimits: PromptImageLimits = {
  imageBytes: 20 * MIB,
  requestBytes: 50 * MIB,
  heldBytes: 256 * MIB,
  accountBytes: 64 * MIB,
  accountFetches: 32,
  totalMs: 10_000,
  images: 100,
  addresses: 64
}

/** The number of parallel downloads per request. */
const AT_A_TIME = 4

const HEADERS = { accept: "image/png, image/jpeg, image/gif, image/webp", "user-agent": "tollgate" }

/** The functions of the pool that flows use. */
type Chats = Pick<ProviderPool["Service"], "chat" | "chatStream">

/** An image that a request names. */
export interface NamedImage {
  /** A URL or a data URL. */
  readonly url: string
  /** The field that names it; `messages` when absent. */
  readonly field?: string | undefined
}

interface Images {
  /** The error for the first image that is invalid by the request's text alone. */
  readonly check: (conversation: Conversation) => Failure | undefined
  /** The error if this image is invalid by the request's text alone, for a model that edits it. */
  readonly checkOne: (image: NamedImage, model?: Model) => Failure | undefined
  /**
   * The bytes of images in order, held in memory until the scope closes, for a model that edits them. An image that cannot be
   * downloaded, or a GIF that the model refuses, is a `PoolError` without an attempt.
   */
  readonly read: (
    accountId: string,
    images: ReadonlyArray<NamedImage>,
    model: Model | undefined
  ) => Effect.Effect<ReadonlyArray<MediaBytes>, PoolError, Scope.Scope>
  /**
   * Wraps a pool: every image at a URL is downloaded first and put into the conversation as a data URL. An image that cannot be
   * downloaded is a `PoolError` without an attempt.
   */
  readonly before: (pool: Chats) => Chats
}

const isWeb = ({ url }: NamedImage): boolean => /^https?:/i.test(url)

const partsOf = (message: Message): ReadonlyArray<Part> =>
  message.role === "user" || message.role === "tool" ? message.content : []

const imagesOf = ({ messages }: Conversation): ReadonlyArray<ImagePart> =>
  messages.flatMap(partsOf).filter((part) => part.type === "image")

const fieldOf = ({ field }: NamedImage): string => field ?? "messages"

const DATA_URL = /^data:[a-z0-9.+/-]+;base64,/i
const NOT_AN_IMAGE = "must be a PNG, JPEG, GIF or WebP image"

/** Only the first bytes are decoded. The provider checks the rest. */
const dataProblem = (url: string): string | undefined => {
  const head = DATA_URL.exec(url.slice(0, 64))?.[0]
  if (head === undefined) return "must be an https URL, or a data URL with base64"
  const type = imageTypeOf(Buffer.from(url.slice(head.length, head.length + (IMAGE_HEAD_BYTES / 3) * 4), "base64"))
  return type === undefined ? NOT_AN_IMAGE : undefined
}

/** The field of the first inline GIF image in a conversation. */
export const gifFieldOf = (conversation: Conversation): string | undefined => {
  const gif = imagesOf(conversation).find((image) => !isWeb(image) && inlineImage(image.url).type === "image/gif")
  return gif && fieldOf(gif)
}

const inlineBytes = (images: ReadonlyArray<NamedImage>): number =>
  images.reduce((sum, image) => (isWeb(image) ? sum : sum + image.url.length * 0.75), 0)

/** A URL in a request. */
interface Address {
  readonly url: string
  /** The field that names it first. */
  readonly field: string
  /** How often the request uses its image. The image is downloaded once but sent each time. */
  uses: number
}

const addressesOf = (images: ReadonlyArray<NamedImage>): ReadonlyArray<Address> => {
  const found = new Map<string, Address>()
  for (const image of images) {
    if (!isWeb(image)) continue
    const known = found.get(image.url)
    if (known === undefined) found.set(image.url, { url: image.url, field: fieldOf(image), uses: 1 })
    else known.uses += 1
  }
  return [...found.values()]
}

const wrong = (field: string, message: string): Reason => invalid(field, message).reason

const wrongNow = (field: string, message: string): Reason => ({
  _tag: "ValidationError",
  problems: [{ field, message }],
  passing: "soon"
})

const dataUrlOf = ({ bytes, contentType }: MediaBytes): string => {
  const { buffer, byteLength, byteOffset } = bytes
  return `data:${contentType};base64,${Buffer.from(buffer, byteOffset, byteLength).toString("base64")}`
}

/** An image that is used twice is encoded once. */
const withData = (conversation: Conversation, found: ReadonlyMap<string, MediaBytes>): Conversation => {
  const data = new Map(Array.from(found, ([url, image]) => [url, dataUrlOf(image)]))
  const filled = (part: Part): Part => {
    const url = part.type === "image" ? data.get(part.url) : undefined
    return url === undefined ? part : ({ ...part, url } as ImagePart)
  }
  return {
    ...conversation,
    messages: conversation.messages.map((message) =>
      message.role === "user" || message.role === "tool"
        ? { ...message, content: message.content.map(filled) }
        : message
    )
  }
}

/** The bytes and downloads of all running requests of one account. */
interface AccountShare {
  held: number
  fetches: number
  requests: number
}

/** What the images of one request have used of its own limit and of the process's. */
interface Share {
  readonly until: number
  readonly account: AccountShare
  request: number
  held: number
}

/**
 * The message reveals neither where a name leads nor whether it resolves: callers must not learn which names exist within this network.
 */
const reasonOf = ({ reason }: PublicFetchError, field: string, totalMs: number): Reason => {
  switch (reason._tag) {
    case "TooLarge":
      return { _tag: "ImageTooLarge", param: field, limitBytes: reason.limitBytes }
    case "Busy":
      return { _tag: "Overloaded" }
    case "TimedOut":
      return wrongNow(field, `could not be fetched in ${totalMs / 1000} seconds`)
    case "Status":
      return (isTransientStatus(reason.status) ? wrongNow : wrong)(
        field,
        `could not be fetched: its host answered with status ${reason.status}`
      )
    case "Forbidden":
    case "Unreachable":
      return wrongNow(field, "could not be fetched: no public host could be reached there")
  }
}

const imageOf = ({ body }: PublicResponse, field: string): Result.Result<MediaBytes, Reason> => {
  const contentType = imageTypeOf(body)
  return contentType === undefined
    ? Result.fail(wrong(field, NOT_AN_IMAGE))
    : Result.succeed({ bytes: body, contentType })
}

/** What is wrong with an image of this type for a model that edits it. */
const sourceProblem = (model: Model | undefined, type: string): string | undefined =>
  type === "image/gif" && model !== undefined && !takesGifSource(model) ? gifProblem(model.id) : undefined

const inlineOf = (url: string): MediaBytes => {
  const { data, type } = inlineImage(url)
  return { bytes: Buffer.from(data, "base64"), contentType: type }
}

const refusedBefore = (reason: Reason): PoolError => new PoolError({ reason, attempts: [], failures: [] })

/** The call with the bytes of every image. Only the downloaded bytes show whether an image is a GIF, which some candidates reject. */
const shownTo = (call: PoolCall, found: ReadonlyMap<string, MediaBytes>): Result.Result<PoolCall, Reason> => {
  const filled = { ...call, conversation: withData(call.conversation, found) }
  const field = gifFieldOf(filled.conversation)
  if (field === undefined) return Result.succeed(filled)
  const { plan } = call
  const [first, ...others] = plan.candidates.filter(({ model }) => takesGif(model))
  if (first === undefined) return Result.fail(wrong(field, gifProblem(plan.requestedModels[0] ?? "")))
  return Result.succeed({ ...filled, plan: { ...plan, candidates: [first, ...others] } })
}

/** Downloads the images of calls. Its memory limit is shared by all users. */
class ImageDownloads {
  readonly #fetch: PublicFetch["Service"]["fetch"]
  readonly #limits: PromptImageLimits
  readonly #accounts = new Map<string, AccountShare>()
  #held = 0

  constructor(fetch: PublicFetch["Service"]["fetch"], limits: PromptImageLimits) {
    this.#fetch = fetch
    this.#limits = limits
  }

  /** The call with the bytes of every image, held in memory until the scope closes. */
  filled(call: PoolCall): Effect.Effect<PoolCall, PoolError, Scope.Scope> {
    return Effect.flatMap(this.fetched(call.accountId ?? "", imagesOf(call.conversation)), (found) =>
      Effect.mapError(Effect.fromResult(shownTo(call, found)), refusedBefore)
    )
  }

  /** The images at URLs, by URL, held in memory until the scope closes. */
  fetched(
    accountId: string,
    images: ReadonlyArray<NamedImage>
  ): Effect.Effect<ReadonlyMap<string, MediaBytes>, PoolError, Scope.Scope> {
    return Effect.suspend(() => this.#fetched(accountId, images))
  }

  #fetched(
    accountId: string,
    images: ReadonlyArray<NamedImage>
  ): Effect.Effect<ReadonlyMap<string, MediaBytes>, PoolError, Scope.Scope> {
    const until = performance.now() + this.#limits.totalMs
    const account = this.#accounts.get(accountId) ?? { held: 0, fetches: 0, requests: 0 }
    this.#accounts.set(accountId, account)
    account.requests += 1
    const share: Share = { until, account, request: inlineBytes(images), held: 0 }
    const back = () => {
      this.#held -= share.held
      account.held -= share.held
      account.requests -= 1
      if (account.requests === 0) this.#accounts.delete(accountId)
    }
    const found = new Map<string, MediaBytes>()
    const fetching = Effect.forEach(
      addressesOf(images),
      (address) => Effect.map(this.#one(address, share), (image) => found.set(address.url, image)),
      { concurrency: AT_A_TIME, discard: true }
    )
    return Effect.addFinalizer(() => Effect.sync(back)).pipe(
      Effect.andThen(Effect.mapError(fetching, refusedBefore)),
      Effect.as(found)
    )
  }

  #one(address: Address, share: Share): Effect.Effect<MediaBytes, Reason> {
    const { field, url } = address
    return Effect.suspend(() => {
      const { accountFetches, imageBytes, totalMs } = this.#limits
      if (share.account.fetches >= accountFetches) return Effect.fail<Reason>({ _tag: "Overloaded" })
      share.account.fetches += 1
      let full: Reason | undefined
      const answer = this.#fetch({
        method: "GET",
        url,
        headers: HEADERS,
        totalMs: Math.max(1, share.until - performance.now()),
        maxBytes: imageBytes,
        accept: (bytes) => (full = this.#take(bytes, address, share)) === undefined
      })
      const over = Effect.sync(() => (share.account.fetches -= 1))
      return Effect.flatMap(
        Effect.mapError(Effect.ensuring(answer, over), (error) => full ?? reasonOf(error, field, totalMs)),
        (found) => Effect.fromResult(imageOf(found, field))
      )
    })
  }

  /** Reserves memory for bytes of an image. Returns the reason when the limit is reached. */
  #take(bytes: number, { field, uses }: Address, share: Share): Reason | undefined {
    const { accountBytes, heldBytes, requestBytes } = this.#limits
    const sent = bytes * uses
    share.request += sent
    share.held += sent
    share.account.held += sent
    this.#held += sent
    if (share.request > requestBytes) return { _tag: "ImageTooLarge", param: field, limitBytes: requestBytes }
    return this.#held > heldBytes || share.account.held > accountBytes ? { _tag: "Overloaded" } : undefined
  }
}

const isToBeFetched = ({ conversation }: PoolCall): boolean =>
  hasImages(conversation) && imagesOf(conversation).some(isWeb)

/** Creates the functions that validate and download the images of prompts. */
export const makePromptImages = (
  { fetch, refuses }: PublicFetch["Service"],
  limits: PromptImageLimits = promptImageLimits
): Images => {
  const fetching = new ImageDownloads(fetch, limits)
  const checkOne: Images["checkOne"] = (image, model) => {
    const gif = () => sourceProblem(model, inlineImage(image.url).type)
    const problem = isWeb(image) ? refuses(image.url) : (dataProblem(image.url) ?? gif())
    return problem === undefined ? undefined : invalid(fieldOf(image), problem)
  }
  return {
    checkOne,
    check: (conversation) => {
      const images = imagesOf(conversation)
      const more = images[limits.images]
      if (more !== undefined)
        return invalid(fieldOf(more), `must be one of at most ${limits.images} images of the request`)
      for (const image of images) {
        const problem = checkOne(image)
        if (problem !== undefined) return problem
      }
      const beyond = addressesOf(images)[limits.addresses]
      return beyond === undefined
        ? undefined
        : invalid(beyond.field, `must be one of at most ${limits.addresses} different image URLs of the request`)
    },
    read: (accountId, images, model) =>
      Effect.flatMap(fetching.fetched(accountId, images), (found) =>
        Effect.forEach(images, (image) => {
          const bytes = found.get(image.url) ?? inlineOf(image.url)
          const problem = sourceProblem(model, bytes.contentType)
          return problem === undefined
            ? Effect.succeed(bytes)
            : Effect.fail(refusedBefore(wrong(fieldOf(image), problem)))
        })
      ),
    before: ({ chat, chatStream }) => ({
      chat: (call) => (isToBeFetched(call) ? Effect.scoped(Effect.flatMap(fetching.filled(call), chat)) : chat(call)),
      chatStream: (call) => (isToBeFetched(call) ? Effect.flatMap(fetching.filled(call), chatStream) : chatStream(call))
    })
  }
}

/** The instance of a process. Everything that downloads callers' images shares its limits. */
export class PromptImages extends Context.Service<PromptImages, Images>()("tollgate/inference/PromptImages") {
  static readonly layer = Layer.effect(
    PromptImages,
    Effect.map(PublicFetch, (publicFetch) => PromptImages.of(makePromptImages(publicFetch)))
  )
}
