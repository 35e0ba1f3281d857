/** Requests a complete answer as a stream, so that a limit for the first token can apply. */
import { Effect } from "effect"
import { type Output, OutputFold } from "../../domain/Output.ts"
import { tooLongFault } from "../Failure.ts"
import { type ChatCall, type Provider } from "../Provider.ts"
import { ProviderError } from "../ProviderError.ts"

/** The longest answer that is collected, in characters. */
const MAX_CHARACTERS = 16 * 1024 * 1024

const collected = (provider: Provider, call: ChatCall): Effect.Effect<Output, ProviderError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const source = yield* provider.chatStream(call)
      const fold = new OutputFold()
      const collecting = source.each((events) => {
        for (const event of events) fold.push(event)
        return fold.length <= MAX_CHARACTERS
      })
      const isCut = yield* Effect.mapError(
        collecting,
        (error) => new ProviderError({ ...error, arrived: fold.output() })
      )
      if (!isCut) return fold.output()
      const fault = tooLongFault(call, `${MAX_CHARACTERS} characters`)
      return yield* new ProviderError({ provider: provider.id, fault, arrived: fold.output() })
    })
  )

/** Wraps a provider: it requests a stream when a complete answer must start within the caller's `first_token` limit. */
export const foldStreams = (provider: Provider): Provider => ({
  ...provider,
  chat: (call) => (call.folds === true ? collected(provider, call) : provider.chat(call))
})
