import { Result } from "effect"
import { VideoRequest } from "../../../schemas/inference/Videos.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { NOT_AN_OBJECT } from "../../domain/SchemaProblems.ts"
import type { VideoOptions } from "../../domain/Video.ts"
import { decoder, objectOf } from "../Decode.ts"

/** A request body, with defaults. */
export interface DecodedVideo {
  readonly model: string
  readonly prompt: string
  readonly options: VideoOptions
}

const decodeWire = decoder(VideoRequest, { strict: true })

/** Decodes a request body. Errors name each invalid or unknown field. */
export const decodeVideo = (body: unknown): Result.Result<DecodedVideo, Failure> => {
  const object = objectOf(body)
  if (object === undefined) return Result.fail(invalid("body", NOT_AN_OBJECT))
  return Result.map(decodeWire(object), (wire) => ({
    model: wire.model,
    prompt: wire.prompt,
    options: {
      duration: wire.duration,
      aspectRatio: wire.aspect_ratio,
      imageUrl: wire.image_url ?? undefined,
      referenceImages: wire.reference_images ?? [],
      referenceVideo: wire.reference_video ?? undefined,
      audio: wire.generate_audio ?? false
    }
  }))
}
