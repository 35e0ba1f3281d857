import { Effect } from "effect"
import type { targetOf } from "../../platform/outbound/OutboundCall.ts"
import { MAX_AUDIO_BYTES } from "../wire/AudioBytes.ts"
import type { HttpWork } from "../wire/HttpWork.ts"
import { parsed } from "../wire/Json.ts"
import type { Provider } from "../Provider.ts"

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
    return Effect.flatMap(post(call, request), (audio) =>
      isObject(audio) || isPage(audio)
        ? Effect.fail(error({ _tag: "Malformed", detail: "an object or a page in place of audio" }))
        : Effect.succeed({ audio })
    )
  }

const LONGEST_ERROR = 64 * 1024

/** Some hosts report an error with a success status. Audio is never JSON. */
const isObject = (audio: Uint8Array): boolean =>
  audio[0] === 0x7b && audio.length <= LONGEST_ERROR && parsed(audio) !== undefined

/** A proxy in front of a host may answer with a page of its own, such as a login page. Audio never starts like that. */
const isPage = (audio: Uint8Array): boolean =>
  /^\s*<(?:!doctype|html)[\s>]/i.test(Buffer.from(audio.subarray(0, 64)).toString("latin1"))
