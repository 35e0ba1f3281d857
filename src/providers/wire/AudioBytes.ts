import type { AudioFormat, SpeakWork } from "../../domain/Work.ts"

/**
 * The largest audio the gateway accepts, in bytes: 23 minutes of an uncompressed format. 4,096 characters of English take about 18 minutes
 * at the lowest speed.
 */
export const MAX_AUDIO_BYTES = 64 * 1_048_576

/** Bytes per second of speech: 16-bit samples at 24 kHz, or the usual bit rates of compressed formats. */
const bytesPerSecond: Readonly<Record<AudioFormat, number>> = {
  mp3: 20_000,
  opus: 20_000,
  aac: 20_000,
  flac: 48_000,
  wav: 48_000,
  pcm: 48_000
}

/** No script is read more slowly at normal speed: about four characters a second for Chinese, fifteen for English. */
const CHARACTERS_PER_SECOND = 4

/** The maximum size of a text as audio, in bytes. */
export const mostAudioBytes = ({ format, input, speed }: Pick<SpeakWork, "format" | "input" | "speed">): number =>
  Math.min(MAX_AUDIO_BYTES, Math.ceil((input.length / CHARACTERS_PER_SECOND / speed) * bytesPerSecond[format]))
