import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { InferenceAccess, LegacyAccess, LegacyEnvelope } from "../Access.ts"
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
import { BalanceWarning } from "../Routing.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"

/** The most reference images of one request. */
export const MAX_REFERENCE_IMAGES = 4

const Address = Schema.String.check(...sized(1, 8_192, "characters"), storable)

const AspectRatio = Schema.Literals(["16:9", "9:16"])

/**
 * A video to be made. Nothing but these fields is allowed; a null counts as absent. Which durations, ratios and references a model
 * takes stands in the catalogue. Addresses are https and public; what is there is fetched by the service when the job begins.
 */
export const VideoRequest = Schema.Struct({
  model: ModelString,
  prompt: textOf(1, 5_000).check(storable),
  /** Whole seconds. */
  duration: integer(4, 15),
  aspect_ratio: AspectRatio,
  /** The picture it begins with. */
  image_url: Schema.optionalKey(Schema.NullOr(Address)),
  /** Whether it has sound. False unless told. */
  generate_audio: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
  /** Pictures of what is to be seen in it. */
  reference_images: Schema.optionalKey(
    Schema.NullOr(Schema.Array(Address).check(...sized(0, MAX_REFERENCE_IMAGES, "items")))
  ),
  /** A clip that it is to be like. */
  reference_video: Schema.optionalKey(Schema.NullOr(Address))
}).annotate({ identifier: "VideoRequest" })
export type VideoRequest = typeof VideoRequest.Type

const VideoStatus = Schema.Literals(["queued", "processing", "completed", "failed"])

const jobFields = {
  id: ResourceId,
  object: Schema.Literal("video"),
  model: ModelString,
  status: VideoStatus,
  /** Unix time in seconds, as is `completed_at`. */
  created_at: Schema.Int,
  /** When it was completed or failed. */
  completed_at: Schema.NullOr(Schema.Int),
  prompt: Schema.String,
  duration: Schema.Int,
  aspect_ratio: AspectRatio,
  /** Whole percent, as far as the provider says; 100 once it is completed. */
  progress: Schema.optionalKey(integer(0, 100)),
  /** Where the clip is, once it is completed; anybody who has the address may read it. */
  video_url: Schema.optionalKey(Schema.String),
  /** Why it failed. */
  error: Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String })),
  /** What was charged up front, less what was given back. */
  cost_usd: Usd,
  /** Whether all of it was given back, as of every job that failed. */
  refunded: Schema.Boolean,
  /** Who makes it, once somebody does. */
  provider: Schema.NullOr(Schema.String),
  /** Of the request that it was submitted by, which is that of its receipt. */
  request_id: RequestId,
  balance_warning: Schema.optionalKey(BalanceWarning)
}

/** A video and how far it is. It ends as `completed` or `failed`, and stays so. */
export const VideoJob = Schema.Struct(jobFields).annotate({ identifier: "VideoJob" })
export type VideoJob = typeof VideoJob.Type

/** The same on the legacy routes, where its id has another name too. */
export const LegacyVideoJob = Schema.Struct({ ...jobFields, job_id: ResourceId }).annotate({
  identifier: "LegacyVideoJob"
})
export type LegacyVideoJob = typeof LegacyVideoJob.Type

/** Any text: what is no id names no video, which is a 404 like any other that there is not. */
const params = { id: Schema.String }

/** Videos, which are made in the background. */
export class VideosGroup extends HttpApiGroup.make("videos")
  .add(
    HttpApiEndpoint.post("createVideo", "/videos", {
      headers: idempotency,
      payload: VideoRequest,
      success: VideoJob,
      error: paidErrors
    }).annotateMerge(operation("videos.create", "Submit a video", { limit: "video", charge: "seconds" })),
    HttpApiEndpoint.get("getVideo", "/videos/:id", {
      params,
      success: VideoJob,
      error: [NotFoundError, UpstreamError]
    }).annotateMerge(
      operation("videos.get", "Retrieve a video job", { limit: "default", charge: "free", moves: true })
    ),
    HttpApiEndpoint.get("getVideoContent", "/videos/:id/content", {
      params,
      success: HttpApiSchema.Empty(302),
      error: [NotFoundError, UpstreamError]
    }).annotateMerge(
      operation("videos.content", "Go to the clip of a completed video", {
        limit: "default",
        charge: "free",
        moves: true
      })
    )
  )
  .middleware(InferenceAccess) {}

/** The routes of videos that are kept working. */
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
      query: { id: Schema.String },
      success: LegacyVideoJob,
      error: [LegacyNotFoundError, LegacyUpstreamError]
    }).annotateMerge(
      operation("video.status", "Retrieve a video job", { limit: "video_status", charge: "free", moves: true })
    )
  )
  .middleware(LegacyAccess)
  .middleware(LegacyEnvelope) {}
