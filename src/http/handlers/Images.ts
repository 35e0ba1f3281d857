import { Effect, Layer } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schemas/Api.ts"
import { decodeImages } from "../../dialects/images/ImagesDecode.ts"
import { encodeImages } from "../../dialects/images/ImagesEncode.ts"
import { ImageWork } from "../../inference/ImageWork.ts"
import { answered } from "./Chat.ts"
import { replayHeader } from "./ChatOperation.ts"
import { leanHandlers } from "../edge/Lean.ts"
import { paidWork, readerOf, type WorkPlace } from "./PaidWork.ts"

/** Image generation at one of its paths. */
export const images = (place: WorkPlace) =>
  Effect.gen(function* () {
    const { make } = yield* ImageWork
    const accept = yield* paidWork(place, decodeImages)
    return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const { decoded, paid } = yield* accept(request)
      const { form, image, work } = decoded
      const reader = readerOf(request)
      const answer = yield* make({ ...paid, form, image, work, onRoom: (place) => reader.onGone(place.hold()) })
      return HttpServerResponse.jsonUnsafe(encodeImages(answer), { headers: replayHeader(answer.replayed) })
    })
  })

/** `POST /images/generations`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const make = yield* images({ operation: "images.generations", path: "/images/generations" })
    return leanHandlers(
      "images",
      HttpApiBuilder.group(Api, "images", (handlers) =>
        handlers.handleRaw("generations", ({ request }) => answered(make(request)))
      )
    )
  })
)
