import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { decodeSpeech, type DecodedSpeech } from "../../dialects/speech/SpeechDecode.ts"
import { speechHeaders, speechType } from "../../dialects/speech/SpeechEncode.ts"
import type { Reason } from "../../domain/Failure.ts"
import type { PaidRequest } from "../../inference/Request.ts"
import { Work, type WorkRequest } from "../../inference/Work.ts"
import {
  AnswerMemory,
  isShort,
  type MemoryReservation,
  type ReservableMemory
} from "../../providers/pool/AnswerMemory.ts"
import { mostAudioBytes } from "../../providers/wire/AudioBytes.ts"
import type { WorkAttempt } from "../../providers/pool/ProviderPool.ts"
import type { SpeechResult } from "../../domain/Work.ts"
import { paidWork, readerOf } from "./PaidWork.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

const silent: Reason = { _tag: "UpstreamError", detail: "the audio is empty" }

/** How long to wait for memory for long audio, in milliseconds. */
const MEMORY_WAIT_MS = 60_000

/** The paid request for speech. `onReserved` receives the memory reservation of long audio, which lasts until the last reader has it. */
export const speechRequest = (
  memory: ReservableMemory,
  paid: PaidRequest,
  { characters, work }: DecodedSpeech,
  onReserved: (reservation: MemoryReservation) => void
): WorkRequest<SpeechResult> => {
  const attempt: WorkAttempt<SpeechResult> = (provider, call) => provider.speak?.(call, work)
  const maxBodyBytes = mostAudioBytes(work)
  const { accountId } = paid.principal
  const reserved = Effect.map(memory.take({ accountId, maxBodyBytes, waitMs: MEMORY_WAIT_MS }), (reservation) => {
    onReserved(reservation)
    return attempt
  })
  return {
    ...paid,
    modality: "audio",
    bound: { kind: "units", units: characters },
    ask: isShort(maxBodyBytes) ? attempt : reserved,
    used: () => undefined,
    counted: () => characters,
    keep: () => undefined,
    empty: ({ audio }) => (audio.length === 0 ? silent : undefined)
  }
}

const speech = Effect.gen(function* () {
  const work = yield* Work
  const memory = yield* AnswerMemory
  const accept = yield* paidWork({ operation: "audio.speech", path: "/audio/speech" }, decodeSpeech)
  return Effect.fnUntraced(function* (request: ApiRequest) {
    const { decoded, paid } = yield* accept(request)
    const reader = readerOf(request)
    // The audio stays in memory until the client has read all of it, however slowly.
    const answer = yield* work.run(
      speechRequest(memory, paid, decoded, (reservation) => reader.onGone(reservation.hold()))
    )
    return HttpServerResponse.uint8Array(answer.value.audio, {
      contentType: speechType(decoded.work.format),
      headers: speechHeaders(answer)
    })
  })
})

/** `POST /audio/speech`. */
export const speechHandlers = Effect.gen(function* () {
  const speak = yield* speech
  return operations("speech", {
    speech: ({ request }) => speak(request)
  })
})
