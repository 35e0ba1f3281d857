import { Effect, Redacted } from "effect"
import type { Outbound } from "../../platform/outbound/Outbound.ts"
import type { PublicFetch } from "../../platform/outbound/PublicFetch.ts"
import { makeHttpWork, withoutChat } from "../wire/HttpWork.ts"
import type { Provider } from "../Provider.ts"
import { faultOfStatus } from "./Failure.ts"
import { faultOfImages, makeFalImages } from "./FalImages.ts"
import { makeFalVideo, queueUrlOf } from "./FalVideo.ts"

export interface FalOptions {
  readonly id: string
  /** The URL in front of a model's path, such as `https://fal.run`. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string>
}

/** fal's images and videos, on the outbound pool. fal bills work that a model has begun, even if the connection closes. */
export const makeFal = ({ apiKey, baseUrl, id }: FalOptions): Effect.Effect<Provider, never, Outbound | PublicFetch> =>
  Effect.gen(function* () {
    const base = baseUrl.replace(/\/+$/, "")
    const host = { id, apiKey, headers: { authorization: `Key ${Redacted.value(apiKey)}` } }
    const images = yield* makeHttpWork({ ...host, faultOfStatus: faultOfImages })
    const videos = yield* makeHttpWork({ ...host, faultOfStatus })
    return {
      id,
      stopsBillingOnAbort: false,
      ...withoutChat(id),
      makeImages: yield* makeFalImages(images, base),
      ...(yield* makeFalVideo(videos, queueUrlOf(base)))
    }
  })
