import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { between, textOf } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"

/** The available voices. */
export const Voice = Schema.Literals(["alloy", "ash", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer"])

/** The audio formats. */
export const SpeechFormat = Schema.Literals(["mp3", "opus", "aac", "flac", "wav", "pcm"])
export type SpeechFormat = typeof SpeechFormat.Type

/** A text to speak. Unknown fields are rejected; a null counts as absent. */
export const SpeechRequest = Schema.Struct({
  /** The id of a speech model. */
  model: ModelString,
  /** 1 to 4,096 characters (Unicode code points). Each of them is charged. */
  input: textOf(1, 4096),
  voice: Voice,
  /**
   * Default: `mp3`. `opus` is Opus in Ogg, `aac` is AAC in ADTS, `pcm` is raw 16-bit little-endian mono at 24 kHz.
   */
  response_format: Schema.optionalKey(Schema.NullOr(SpeechFormat)),
  /** The factor of the usual speed, from 0.25 to 4. Default: 1. */
  speed: Schema.optionalKey(Schema.NullOr(between(0.25, 4)))
}).annotate({ identifier: "SpeechRequest" })
export type SpeechRequest = typeof SpeechRequest.Type

/** The content type of each format. */
export const speechTypes = {
  mp3: "audio/mpeg",
  opus: "audio/opus",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm"
} as const satisfies Record<SpeechFormat, string>

/** The complete audio. The `X-Cost-USD` header contains its cost, and `X-Balance-Warning` reports a low balance. */
export const spokenAnswers = Object.values(speechTypes).map((contentType) =>
  Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType })).annotate({
    description: "The complete audio. The `X-Cost-USD` header contains its cost."
  })
)
