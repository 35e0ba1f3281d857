import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { decodeImages } from "../../dialects/images/ImagesDecode.ts"
import { encodeImages } from "../../dialects/images/ImagesEncode.ts"
import { ImageWork } from "../../inference/ImageWork.ts"
import { replayHeader } from "./ChatOperation.ts"
import { paidWork, readerOf, type WorkRoute } from "./PaidWork.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

/** Image generation at one of its paths. */
export const images = (place: WorkRoute) =>
  Effect.gen(function* () {
    const { make } = yield* ImageWork
    const accept = yield* paidWork(place, decodeImages)
    return Effect.fnUntraced(function* (request: ApiRequest) {
      const { decoded, paid } = yield* accept(request)
      const { form, image, work } = decoded
      const reader = readerOf(request)
      const answer = yield* make({
        ...paid,
        form,
        image,
        work,
        onRoom: (reservation) => reader.onGone(reservation.hold())
      })
      return HttpServerResponse.jsonUnsafe(encodeImages(answer), { headers: replayHeader(answer.replayed) })
    })
  })

/** `POST /images/generations`. */
export const imagesHandlers = Effect.gen(function* () {
  const make = yield* images({ operation: "images.generations", path: "/images/generations" })
  return operations("images", {
    generations: ({ request }) => make(request)
  })
})
