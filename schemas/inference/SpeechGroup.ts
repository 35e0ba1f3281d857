import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { operation } from "../Operation.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"
import { SpeechRequest, spokenAnswers } from "./Speech.ts"

/** Speech from text. */
export class SpeechGroup extends HttpApiGroup.make("speech")
  .add(
    HttpApiEndpoint.post("speech", "/audio/speech", {
      headers: idempotency,
      payload: SpeechRequest,
      success: spokenAnswers,
      error: paidErrors
    }).annotateMerge(operation("audio.speech", "Turn text into speech", { limit: "default", charge: "characters" }))
  )
  .middleware(InferenceAccess) {}
