import { Effect } from "effect"
import type { targetOf } from "../../platform/outbound/OutboundCall.ts"
import { MAX_AUDIO_BYTES } from "../wire/AudioBytes.ts"
import type { HttpWork } from "../wire/HttpWork.ts"
import { type JsonObject, objectOf, parseJson } from "../wire/Json.ts"
import type { Provider } from "../Provider.ts"
import { faultIn } from "./Failure.ts"

/** Speech at a host with OpenAI's `/audio/speech`. */
export const makeSpeech =
  ({ error, post }: HttpWork, target: ReturnType<typeof targetOf>): NonNullable<Provider["speak"]> =>
  (call, { format, input, speed, voice }) => {
    const body = JSON.stringify({
      model: call.candidate.offer.upstreamId,
      input,
      voice,
      response_format: format,
      speed
    })
    const request = { target, accept: "*/*", body, maxBodyBytes: MAX_AUDIO_BYTES }
    const malformed = (detail: string) => error({ _tag: "Malformed", detail })
    return Effect.flatMap(post(call, request), (audio) => {
      const object = objectIn(audio)
      if (object !== undefined) {
        const fault = faultIn(object)
        return Effect.fail(fault === undefined ? malformed("a JSON object in place of audio") : error(fault))
      }
      return isPage(audio) ? Effect.fail(malformed("a page in place of audio")) : Effect.succeed({ audio })
    })
  }

const LONGEST_ERROR_BYTES = 64 * 1024

/** The JSON object in place of audio, which is never JSON. Some hosts report an error that way, with a success status. */
const objectIn = (audio: Uint8Array): JsonObject | undefined =>
  audio[0] === 0x7b && audio.length <= LONGEST_ERROR_BYTES ? objectOf(parseJson(audio)) : undefined

/** A proxy in front of a host may answer with a page of its own, such as a login page. Audio never starts like that. */
const isPage = (audio: Uint8Array): boolean =>
  /^\s*<(?:!doctype|html)[\s>]/i.test(Buffer.from(audio.subarray(0, 64)).toString("latin1"))
