import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import type { ProviderError } from "../ProviderError.ts"
import type { AudioFormat, SpeakWork, SpeechResult } from "../../domain/Work.ts"
import type { WorkCall } from "../Provider.ts"
import { playWork } from "./WorkPlay.ts"

/** The header of a WAVE file in front of its samples. */
const WAVE_HEAD = 44

const loaded = new Map<AudioFormat, Promise<Uint8Array>>()

/** The recording in a format. The recording lasts 1.7 seconds: mono at 24 kHz. */
const recording = (format: AudioFormat): Promise<Uint8Array> => {
  const known = loaded.get(format)
  if (known !== undefined) return known
  const file = format === "pcm" ? "wav" : format
  const bytes = readFile(new URL(`./speech/sample.${file}`, import.meta.url))
  const made = format === "pcm" ? bytes.then((wave) => wave.subarray(WAVE_HEAD)) : bytes
  loaded.set(format, made)
  return made
}

/** The double's speech: one short recording, whatever the text and the voice. Empty audio is an empty answer. */
export const speak = (id: string, call: WorkCall, { format }: SpeakWork): Effect.Effect<SpeechResult, ProviderError> =>
  playWork(id, call, ({ fault }) =>
    fault === "empty"
      ? Effect.succeed({ audio: new Uint8Array() })
      : Effect.map(
          Effect.promise(() => recording(format)),
          (audio) => ({ audio })
        )
  )
