import { Effect, Redacted } from "effect"
import type { Outbound } from "../../platform/Outbound.ts"
import type { PublicFetch } from "../../platform/PublicFetch.ts"
import { makeHttpWork, withoutChat } from "../HttpWork.ts"
import type { Provider } from "../Provider.ts"
import { faultOfStatus } from "./Failure.ts"
import { faultOfDraw, makeFalDraw } from "./FalDraw.ts"
import { makeFalFilm, queueUrlOf } from "./FalFilm.ts"

export interface FalOptions {
  readonly id: string
  /** Everything before a model's path, such as `https://fal.run`. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string>
}

/** fal's images and videos, over the outbound pool. It bills what a model has begun, whether or not we hang up. */
export const makeFal = ({ apiKey, baseUrl, id }: FalOptions): Effect.Effect<Provider, never, Outbound | PublicFetch> =>
  Effect.gen(function* () {
    const base = baseUrl.replace(/\/+$/, "")
    const host = { id, apiKey, headers: { authorization: `Key ${Redacted.value(apiKey)}` } }
    const draws = yield* makeHttpWork({ ...host, faultOfStatus: faultOfDraw })
    const films = yield* makeHttpWork({ ...host, faultOfStatus })
    return {
      id,
      stopsBillingOnAbort: false,
      ...withoutChat(id),
      draw: yield* makeFalDraw(draws, base),
      ...(yield* makeFalFilm(films, queueUrlOf(base)))
    }
  })
