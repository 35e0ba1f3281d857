import { Effect, Layer } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../schemas/Api.ts"
import { decodeSpeech } from "../dialects/speech/SpeechDecode.ts"
import { speechHeaders, speechType } from "../dialects/speech/SpeechEncode.ts"
import type { Reason } from "../domain/Failure.ts"
import { Work } from "../inference/Work.ts"
import type { Spoken } from "../providers/Work.ts"
import { answered } from "./Chat.ts"
import { leanHandlers } from "./Lean.ts"
import { paidWork } from "./PaidWork.ts"

const silent: Reason = { _tag: "UpstreamError", detail: "the audio is empty" }

const speech = Effect.gen(function* () {
  const work = yield* Work
  const accept = yield* paidWork({ operation: "audio.speech", path: "/audio/speech" }, decodeSpeech)
  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const { decoded, paid } = yield* accept(request)
    const { characters } = decoded
    const answer = yield* work.run<Spoken>({
      ...paid,
      modality: "audio",
      bound: { kind: "units", units: characters },
      ask: (provider, call) => provider.speak?.(call, decoded.work),
      used: () => undefined,
      counted: () => characters,
      keep: () => undefined,
      empty: ({ audio }) => (audio.length === 0 ? silent : undefined)
    })
    return HttpServerResponse.uint8Array(answer.value.audio, {
      contentType: speechType(decoded.work.format),
      headers: speechHeaders(answer)
    })
  })
})

/** `POST /audio/speech`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const speak = yield* speech
    return leanHandlers(
      "speech",
      HttpApiBuilder.group(Api, "speech", (handlers) =>
        handlers.handleRaw("speech", ({ request }) => answered(speak(request)))
      )
    )
  })
)
