import type { AudioFormat, SpeakWork } from "./Work.ts"

/**
 * The longest audio taken: 23 minutes of the formats that are not compressed, which is what 4096 characters of English take at
 * the least speed.
 */
export const MAX_AUDIO_BYTES = 64 * 1_048_576

/** Of a second of a voice: 16-bit samples at 24 kHz, or what hosts of today make of them. */
const bytesPerSecond: Readonly<Record<AudioFormat, number>> = {
  mp3: 20_000,
  opus: 20_000,
  aac: 20_000,
  flac: 48_000,
  wav: 48_000,
  pcm: 48_000
}

/** No script has fewer at the usual speed: of Chinese some four are read in a second, of English fifteen. */
const CHARACTERS_PER_SECOND = 4

/** The most bytes that a text comes to as audio. */
export const mostAudioBytes = ({ format, input, speed }: Pick<SpeakWork, "format" | "input" | "speed">): number =>
  Math.min(MAX_AUDIO_BYTES, Math.ceil((input.length / CHARACTERS_PER_SECOND / speed) * bytesPerSecond[format]))
