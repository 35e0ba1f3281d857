import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AccountAccess, InferenceAccess, LegacyAccess, LegacyEnvelope } from "../Access.ts"
import { integer, sized, storable, textOf, Usd } from "../Bounds.ts"
import { NotFoundError, UpstreamError } from "../Errors.ts"
import { ModelString, RequestId, ResourceId } from "../Ids.ts"
import {
  LegacyConflictError,
  LegacyIdempotencyError,
  LegacyInsufficientCreditsError,
  LegacyNotFoundError,
  LegacyTimeoutError,
  LegacyUpstreamError
} from "../LegacyErrors.ts"
import { operation } from "../Operation.ts"
import { Limit } from "../Page.ts"
import { BalanceWarning } from "../Routing.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"

/** The maximum number of reference images in one request. */
const MAX_REFERENCE_IMAGES = 4

const Address = Schema.String.check(...sized(1, 8_192, "characters"), storable)

/** Width to height. */
const AspectRatio = Schema.Literals(["16:9", "9:16"])

/**
 * A request for a video. Unknown fields are rejected; a null counts as absent. The catalogue lists the durations, aspect ratios and
 * references that each model supports. URLs must be public https URLs; the service downloads them when the job starts.
 */
export const VideoRequest = Schema.Struct({
  /** The id of a video model. */
  model: ModelString,
  /** What the video should show. 1 to 5,000 characters. */
  prompt: textOf(1, 5_000).check(storable),
  /** The length in whole seconds, 4 to 15. Each second is charged. */
  duration: integer(4, 15),
  aspect_ratio: AspectRatio,
  /** An image that is the first frame. */
  image_url: Schema.optionalKey(Schema.NullOr(Address)),
  /** Whether it has sound. Default: false. */
  generate_audio: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  /** Up to four images of what the video should show. */
  reference_images: Schema.optionalKey(
    Schema.NullOr(Schema.Array(Address).check(...sized(0, MAX_REFERENCE_IMAGES, "items")))
  ),
  /** A video that it should resemble. */
  reference_video: Schema.optionalKey(Schema.NullOr(Address))
}).annotate({ identifier: "VideoRequest" })
export type VideoRequest = typeof VideoRequest.Type

/** `completed` and `failed` are final. */
const VideoStatus = Schema.Literals(["queued", "processing", "completed", "failed"])

const jobFields = {
  id: ResourceId,
  object: Schema.Literal("video"),
  /** The id of the model. */
  model: ModelString,
  status: VideoStatus,
  /** Unix seconds. */
  created_at: Schema.Int,
  /** When the job ended, in Unix seconds; null before. */
  completed_at: Schema.NullOr(Schema.Int),
  /** As in the request. */
  prompt: Schema.String,
  /** The length in whole seconds. */
  duration: Schema.Int,
  aspect_ratio: AspectRatio,
  /** A whole percentage, if the provider reports it; 100 once the video is completed. */
  progress: Schema.optionalKey(integer(0, 100)),
  /** The URL of the video, once it is completed. Any client that has the URL may read it. */
  video_url: Schema.optionalKey(Schema.String),
  /** Why the job failed; null when it did not. */
  error: Schema.NullOr(
    Schema.Struct({
      /** For programs. */
      code: Schema.String,
      /** For people. */
      message: Schema.String
    })
  ),
  /** The charge minus the refund. */
  cost_usd: Usd,
  /** Whether everything was refunded, which is so for every failed job. */
  refunded: Schema.Boolean,
  /** The provider that makes it, once one has accepted it. */
  provider: Schema.NullOr(Schema.String),
  /** The id of the request that created it, and of its receipt. */
  request_id: RequestId,
  balance_warning: Schema.optionalKey(BalanceWarning)
}

/** A video job and its progress. It ends as `completed` or `failed`, which is final. */
export const VideoJob = Schema.Struct(jobFields).annotate({ identifier: "VideoJob" })
export type VideoJob = typeof VideoJob.Type

/** One page of video jobs, newest first by default. `last_id` is the `after` of the next page. */
export const VideoPage = Schema.Struct({
  object: Schema.Literal("list"),
  /** The jobs. */
  data: Schema.Array(VideoJob),
  /** The id of the first job; null on an empty page. */
  first_id: Schema.NullOr(ResourceId),
  /** The id of the last job; null on an empty page. */
  last_id: Schema.NullOr(ResourceId),
  /** Whether more jobs follow. */
  has_more: Schema.Boolean
}).annotate({ identifier: "VideoPage" })

/** The videos to list. */
export const VideoQuery = {
  limit: Schema.optionalKey(Limit),
  /** The `last_id` of the previous page. */
  after: Schema.optionalKey(ResourceId),
  /** `asc` sorts by time, oldest first. Default: `desc`. */
  order: Schema.optionalKey(Schema.Literals(["asc", "desc"]))
}

/** The video job on the legacy routes, where its id has a second name. */
export const LegacyVideoJob = Schema.Struct({ ...jobFields, job_id: ResourceId }).annotate({
  identifier: "LegacyVideoJob"
})
export type LegacyVideoJob = typeof LegacyVideoJob.Type

// Any text is allowed: an invalid id is simply an unknown video, which is a 404.
const params = {
  /** The id of a video job. */
  id: Schema.String
}

/** Videos, which are made in the background. */
export class VideosGroup extends HttpApiGroup.make("videos").add(
  HttpApiEndpoint.post("createVideo", "/videos", {
    headers: idempotency,
    payload: VideoRequest,
    success: VideoJob,
    error: paidErrors
  })
    .annotateMerge(operation("videos.create", "Submit a video", { limit: "video", charge: "seconds" }))
    .middleware(InferenceAccess),
  HttpApiEndpoint.get("listVideos", "/videos", { query: VideoQuery, success: VideoPage })
    .annotateMerge(
      operation("videos.list", "List video jobs, newest first by default", { limit: "default", charge: "free" })
    )
    .middleware(AccountAccess),
  HttpApiEndpoint.get("getVideo", "/videos/:id", {
    params,
    success: VideoJob,
    error: [NotFoundError, UpstreamError]
  })
    .annotateMerge(operation("videos.get", "Retrieve a video job", { limit: "default", charge: "free", moves: true }))
    .middleware(AccountAccess),
  HttpApiEndpoint.get("getVideoContent", "/videos/:id/content", {
    params,
    success: HttpApiSchema.Empty(302).annotate({ description: "`Location` is the address of the file." }),
    error: [NotFoundError, UpstreamError]
  })
    .annotateMerge(
      operation("videos.content", "Redirect to the file of a completed video", {
        limit: "default",
        charge: "free",
        moves: true
      })
    )
    .middleware(AccountAccess)
) {}

/** Older video routes that stay available. */
export class LegacyVideosGroup extends HttpApiGroup.make("legacyVideos")
  .add(
    HttpApiEndpoint.post("video", "/video", {
      headers: idempotency,
      payload: VideoRequest,
      success: LegacyVideoJob,
      error: [
        LegacyInsufficientCreditsError,
        LegacyNotFoundError,
        LegacyConflictError,
        LegacyIdempotencyError,
        LegacyUpstreamError,
        LegacyTimeoutError
      ]
    }).annotateMerge(operation("video", "Submit a video", { limit: "video", charge: "seconds" })),
    HttpApiEndpoint.get("videoStatus", "/video/status", {
      query: {
        /** The id of a video job. */
        id: Schema.String
      },
      success: LegacyVideoJob,
      error: [LegacyNotFoundError, LegacyUpstreamError]
    }).annotateMerge(
      operation("video.status", "Retrieve a video job", { limit: "video_status", charge: "free", moves: true })
    )
  )
  .middleware(LegacyAccess)
  .middleware(LegacyEnvelope) {}
