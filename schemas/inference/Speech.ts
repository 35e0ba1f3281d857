import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { between, textOf } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"

/** The voices there are. */
export const Voice = Schema.Literals(["alloy", "ash", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer"])

/** What the audio can come in. `opus` is Opus in Ogg, `aac` AAC in ADTS, `pcm` bare 16-bit little-endian mono at 24 kHz. */
export const SpeechFormat = Schema.Literals(["mp3", "opus", "aac", "flac", "wav", "pcm"])
export type SpeechFormat = typeof SpeechFormat.Type

/**
 * A text to be spoken, of 1 to 4096 characters, each a Unicode code point; so many are charged, whatever they sound like. It may
 * hold nothing that is not known; a null counts as absent.
 */
export const SpeechRequest = Schema.Struct({
  model: ModelString,
  input: textOf(1, 4096),
  voice: Voice,
  /** `mp3` where it is not said. */
  response_format: Schema.optionalKey(Schema.NullOr(SpeechFormat)),
  /** 1 where it is not said. */
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

/** The audio, whole. What it cost is said in the header `X-Cost-USD`, a low balance in `X-Balance-Warning`. */
export const spokenAnswers = Object.values(speechTypes).map((contentType) =>
  Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType }))
)
