import { Effect } from "effect"
import { ProviderError } from "../Provider.ts"
import type { SpeakWork, Spoken, WorkCall } from "../Work.ts"
import { audioFile } from "./AudioFiles.ts"
import { speech } from "./Voice.ts"
import { playWork } from "./WorkPlay.ts"

/** The double's speech: the text in a synthetic voice, as a playable file. Empty audio is an empty answer. */
export const speak = (id: string, call: WorkCall, work: SpeakWork): Effect.Effect<Spoken, ProviderError> =>
  playWork(id, call, ({ fault }) =>
    fault === "empty"
      ? Effect.succeed({ audio: new Uint8Array() })
      : Effect.tryPromise({
          try: (signal) => audioFile(work.format, speech(work), signal),
          catch: (error) =>
            new ProviderError({
              provider: id,
              fault: { _tag: "ServerError", status: 500, detail: `the encoder failed: ${String(error)}` }
            })
        }).pipe(Effect.map((audio) => ({ audio })))
  )
