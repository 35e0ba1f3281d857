import { Result } from "effect"
import { charactersOf } from "../../../schemas/Bounds.ts"
import { SpeechRequest } from "../../../schemas/inference/Speech.ts"
import type { Failure } from "../../domain/Failure.ts"
import type { SpeakWork } from "../../domain/Work.ts"
import { decoder } from "../Decode.ts"

/** A decoded speech request, with defaults. */
export interface DecodedSpeech {
  readonly model: string
  readonly work: SpeakWork
  /** The billed quantity: the characters of the input, counted as Unicode code points. */
  readonly characters: number
}

const decodeWire = decoder(SpeechRequest, { strict: true })

/** Decodes the body of `POST /audio/speech`. Errors name every invalid or unknown field. */
export const decodeSpeech = (body: unknown): Result.Result<DecodedSpeech, Failure> =>
  Result.map(decodeWire(body), ({ input, model, response_format, speed, voice }) => ({
    model,
    work: { input, voice, format: response_format ?? "mp3", speed: speed ?? 1 },
    characters: charactersOf(input)
  }))
