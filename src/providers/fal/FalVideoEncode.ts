/** Encodes video requests for fal's models, which differ by family. <https://fal.ai/models> */
import { Result } from "effect"
import { dataUrlOf } from "../wire/HttpClip.ts"
import type { ProviderFault } from "../ProviderError.ts"
import type { VideoWork } from "../../domain/Work.ts"

/** A job for the queue: the model's path and its input. */
export interface FalVideoInput {
  readonly model: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Encodes a request for a model. `upstreamId` is the common prefix of its endpoints. */
export const encodeVideo = (upstreamId: string, work: VideoWork): Result.Result<FalVideoInput, ProviderFault> => {
  const references = work.referenceImages.length > 0 || work.referenceVideo !== undefined
  if (upstreamId.startsWith("fal-ai/veo")) return references ? unable : Result.succeed(veo(upstreamId, work))
  if (upstreamId.startsWith("fal-ai/kling")) return references ? unable : Result.succeed(kling(upstreamId, work))
  if (!references) return Result.succeed(seedance(upstreamId, work))
  return work.image === undefined ? Result.succeed(referenceInput(upstreamId, work)) : both
}

const refused = (detail: string): Result.Result<never, ProviderFault> =>
  Result.fail({ _tag: "Refused", status: 400, detail, param: "reference_images" })

const unable = refused("it takes no references")
const both = refused("it takes an image to begin with or references, not both")

const seedOf = ({ seed }: VideoWork) => (seed === undefined ? {} : { seed })

const seedance = (upstreamId: string, work: VideoWork): FalVideoInput => ({
  model: `${upstreamId}/${work.image === undefined ? "text-to-video" : "image-to-video"}`,
  input: {
    prompt: work.prompt,
    ...(work.image === undefined ? {} : { image_url: dataUrlOf(work.image) }),
    ...seedanceTerms(work)
  }
})

const referenceInput = (upstreamId: string, work: VideoWork): FalVideoInput => ({
  model: `${upstreamId}/reference-to-video`,
  input: {
    prompt: work.prompt,
    ...(work.referenceImages.length === 0 ? {} : { image_urls: work.referenceImages.map(dataUrlOf) }),
    ...(work.referenceVideo === undefined ? {} : { video_urls: [dataUrlOf(work.referenceVideo)] }),
    ...seedanceTerms(work)
  }
})

/** The resolution to which the catalogue's prices apply. */
const RESOLUTION = "720p"

const seedanceTerms = (work: VideoWork) => ({
  duration: String(work.duration),
  aspect_ratio: work.aspectRatio,
  resolution: RESOLUTION,
  generate_audio: work.audio,
  ...seedOf(work)
})

/** The text-to-video endpoint is at the model's own path. */
const veo = (upstreamId: string, work: VideoWork): FalVideoInput => ({
  model: work.image === undefined ? upstreamId : `${upstreamId}/image-to-video`,
  input: {
    prompt: work.prompt,
    ...(work.image === undefined ? {} : { image_url: dataUrlOf(work.image) }),
    duration: `${work.duration}s`,
    aspect_ratio: work.aspectRatio,
    resolution: RESOLUTION,
    generate_audio: work.audio,
    ...seedOf(work)
  }
})

/** It accepts no seed, and uses the image's own aspect ratio. */
const kling = (upstreamId: string, work: VideoWork): FalVideoInput => ({
  model: `${upstreamId}/${work.image === undefined ? "text-to-video" : "image-to-video"}`,
  input: {
    prompt: work.prompt,
    ...(work.image === undefined ? { aspect_ratio: work.aspectRatio } : { start_image_url: dataUrlOf(work.image) }),
    duration: String(work.duration),
    generate_audio: work.audio
  }
})
