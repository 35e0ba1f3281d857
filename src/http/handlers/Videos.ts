import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller } from "../../../schemas/Access.ts"
import { DEFAULT_LIMIT } from "../../../schemas/Page.ts"
import { decodeVideo } from "../../dialects/videos/VideosDecode.ts"
import { encodeLegacyVideo, encodeVideo } from "../../dialects/videos/VideosEncode.ts"
import { failure } from "../../domain/Failure.ts"
import { Videos } from "../../videos/Videos.ts"
import { replayHeader } from "./ChatOperation.ts"
import { paidWork, type WorkRoute } from "./PaidWork.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

const submits = (place: WorkRoute, encode: typeof encodeVideo) =>
  Effect.gen(function* () {
    const videos = yield* Videos
    const accept = yield* paidWork(place, decodeVideo)
    return Effect.fnUntraced(function* (request: ApiRequest) {
      const { decoded, paid } = yield* accept(request)
      const { prompt, options } = decoded
      const { balanceWarning, replayed, video } = yield* videos.submit({ ...paid, prompt, options })
      return HttpServerResponse.jsonUnsafe(encode(video, balanceWarning), { headers: replayHeader(replayed) })
    })
  })

const asks = Effect.map(
  Videos,
  (videos) => (id: string) => Effect.flatMap(Caller, ({ accountId }) => videos.status(accountId, id))
)

interface VideoListQuery {
  readonly limit?: number
  readonly after?: string
  readonly order?: "asc" | "desc"
}

/** `POST /videos`, `GET /videos`, `GET /videos/{id}` and its content. */
export const videosHandlers = Effect.gen(function* () {
  const submit = yield* submits({ operation: "videos", path: "/videos" }, encodeVideo)
  const ask = yield* asks
  const content = Effect.fnUntraced(function* (id: string) {
    const { url } = yield* ask(id)
    if (url === undefined) return yield* failure({ _tag: "NotFound", what: "clip of video", id })
    return HttpServerResponse.redirect(url)
  })
  const service = yield* Videos
  const list = Effect.fnUntraced(function* ({ after, limit = DEFAULT_LIMIT, order = "desc" }: VideoListQuery) {
    const { accountId } = yield* Caller
    const { more, videos } = yield* service.list(accountId, { limit, after: after ?? null, order })
    return HttpServerResponse.jsonUnsafe({
      object: "list",
      data: videos.map((video) => encodeVideo(video)),
      first_id: videos[0]?.id ?? null,
      last_id: videos.at(-1)?.id ?? null,
      has_more: more
    })
  })
  return operations("videos", {
    createVideo: ({ request }) => submit(request),
    listVideos: ({ query }) => list(query),
    getVideo: ({ params }) => Effect.map(ask(params.id), (video) => HttpServerResponse.jsonUnsafe(encodeVideo(video))),
    getVideoContent: ({ params }) => content(params.id)
  })
})

/** `POST /video` and `GET /video/status`. */
export const legacyVideosHandlers = Effect.gen(function* () {
  const submit = yield* submits({ operation: "video", path: "/video" }, encodeLegacyVideo)
  const ask = yield* asks
  return operations("legacyVideos", {
    video: ({ request }) => submit(request),
    videoStatus: ({ query }) =>
      Effect.map(ask(query.id), (video) => HttpServerResponse.jsonUnsafe(encodeLegacyVideo(video)))
  })
})
