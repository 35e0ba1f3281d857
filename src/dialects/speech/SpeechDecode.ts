import { Result } from "effect"
import { charactersOf } from "../../../schemas/Bounds.ts"
import { SpeechRequest } from "../../../schemas/inference/Speech.ts"
import type { Failure } from "../../domain/Failure.ts"
import type { SpeakWork } from "../../providers/Work.ts"
import { decoder } from "../Decode.ts"

/** A request for speech, defaults filled in. */
export interface DecodedSpeech {
  readonly model: string
  readonly work: SpeakWork
  /** What is charged for: the characters of the input, as Unicode counts code points. */
  readonly characters: number
}

const decodeWire = decoder(SpeechRequest, { strict: true })

/** Reads the body of `POST /audio/speech`; fails with every wrong field, one that is not known among them. */
export const decodeSpeech = (body: unknown): Result.Result<DecodedSpeech, Failure> =>
  Result.map(decodeWire(body), ({ input, model, response_format, speed, voice }) => ({
    model,
    work: { input, voice, format: response_format ?? "mp3", speed: speed ?? 1 },
    characters: charactersOf(input)
  }))
