import { Effect, Result } from "effect"
import { AnswerRoom, inRoom } from "./AnswerRoom.ts"
import { decodeEmbeddings, mostEmbedBytes } from "./EmbedDecode.ts"
import type { HttpWork, WorkRequest } from "./HttpWork.ts"
import { faultOfError } from "./openai/Failure.ts"
import type { Provider, ProviderError, ProviderFault } from "./Provider.ts"
import type { EmbedWork, WorkCall } from "./Work.ts"

/** A result as an effect of an adapter's. */
export const orFault = <A>(work: HttpWork, result: Result.Result<A, ProviderFault>): Effect.Effect<A, ProviderError> =>
  Result.isFailure(result) ? Effect.fail(work.error(result.failure)) : Effect.succeed(result.success)

/** Embedding at a host that answers as OpenAI does, however it is asked. */
export const makeHttpEmbed = (
  work: HttpWork,
  target: WorkRequest["target"],
  encode: (call: WorkCall, asked: EmbedWork) => Result.Result<string, ProviderFault>
): Effect.Effect<NonNullable<Provider["embed"]>> =>
  Effect.map(AnswerRoom, (room) => (call, asked) => {
    const maxBodyBytes = mostEmbedBytes(asked)
    const request = (body: string) => work.post(call, { target, accept: "application/json", body, maxBodyBytes })
    return Effect.suspend(() => orFault(work, encode(call, asked))).pipe(
      Effect.flatMap(request),
      inRoom(room, maxBodyBytes),
      Effect.flatMap((body) => orFault(work, decodeEmbeddings(body, asked, faultOfError)))
    )
  })
