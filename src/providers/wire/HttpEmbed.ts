import { Clock, Effect, Exit, Result, Scope } from "effect"
import { millisOf } from "../../platform/Monotonic.ts"
import { OutboundError, type OutboundStream } from "../../platform/outbound/OutboundCall.ts"
import { isShort, reservedBytes } from "../pool/AnswerMemory.ts"
import { decodeEmbeddings, mostEmbedBytes } from "./EmbedDecode.ts"
import { EmbedPieces } from "./EmbedPieces.ts"
import { ArrivingList } from "./ArrivingList.ts"
import { faultOfOutbound } from "../Failure.ts"
import type { ProviderError, ProviderFault } from "../ProviderError.ts"
import type { HttpWork, WorkRequest } from "./HttpWork.ts"
import { faultOfError } from "../openai/Failure.ts"
import type { Provider, WorkCall } from "../Provider.ts"
import type { Embeddings } from "../Work.ts"
import type { EmbedWork } from "../../domain/Work.ts"

/** Turns a result into an effect of the adapter. */
export const orFault = <A>(work: HttpWork, result: Result.Result<A, ProviderFault>): Effect.Effect<A, ProviderError> =>
  Result.isFailure(result) ? Effect.fail(work.error(result.failure)) : Effect.succeed(result.success)

/** How much of a list must be validated before its beginning is passed on, in bytes. Until then, another host can still be tried. */
const BEGINNING_BYTES = 1_048_576

/** A response that is being read, with its parser. */
interface OpenResponse {
  readonly work: HttpWork
  readonly embeddings: EmbedWork
  readonly maxBodyBytes: number
  readonly stream: OutboundStream
  readonly pieces: EmbedPieces
  length: number
  /** How much longer the host may be made to wait for the reader, in milliseconds. */
  patienceMs: number
}

/** The next bytes of a response within its length limit; undefined at its end. */
const read = (reading: OpenResponse): Effect.Effect<Uint8Array | undefined, ProviderError> =>
  Effect.matchEffect(reading.stream.read, {
    onFailure: (failed) => Effect.fail(reading.work.error(faultOfOutbound(failed))),
    onSuccess: (bytes) => {
      reading.length += bytes?.length ?? 0
      const { length, maxBodyBytes, work } = reading
      if (length <= maxBodyBytes) return Effect.succeed(bytes)
      const tooLong = new OutboundError({ reason: { _tag: "TooLarge", limitBytes: maxBodyBytes } })
      return Effect.fail(work.error(faultOfOutbound(tooLong)))
    }
  })

/** Reads until enough of the list is validated, or to the end if that never happens. */
const begin = (reading: OpenResponse): Effect.Effect<ReadonlyArray<Uint8Array> | Embeddings, ProviderError> =>
  Effect.gen(function* () {
    const { embeddings, pieces, work } = reading
    const come: Array<Uint8Array> = []
    const vectors: Array<Uint8Array> = []
    let length = 0
    for (;;) {
      const bytes = yield* read(reading)
      if (bytes === undefined) break
      come.push(bytes)
      if (pieces.wrong) continue
      for (const right of pieces.push(bytes)) {
        length += right.length
        vectors.push(right)
      }
      if (!pieces.wrong && length > BEGINNING_BYTES) return vectors
    }
    return yield* orFault(work, decodeEmbeddings(Buffer.concat(come), embeddings, faultOfError))
  })

const LIST_END = Buffer.from("]")

const NOTHING = new Uint8Array()

const malformed: ProviderFault = { _tag: "Malformed", detail: "the embeddings are not those of the inputs" }

/** Stops waiting for a reader that uses too much of the call's time, because the host would be considered too slow. */
const waitForReader = (reading: OpenResponse, rest: ArrivingList): Effect.Effect<void> =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const since = millisOf(clock)
    const left = Effect.sync(() => rest.leave())
    yield* Effect.timeoutOrElse(rest.taken, { duration: Math.max(0, reading.patienceMs), orElse: () => left })
    reading.patienceMs -= millisOf(clock) - since
  })

/** Reads the rest of the list. */
const finish = (reading: OpenResponse, rest: ArrivingList): Effect.Effect<number | undefined, ProviderError> =>
  Effect.gen(function* () {
    const { pieces, work } = reading
    for (;;) {
      const bytes = yield* read(reading)
      if (bytes === undefined) break
      rest.push(pieces.push(bytes))
      rest.count = pieces.count
      if (pieces.wrong) return yield* Effect.fail(work.error(malformed))
      if (rest.isFull) yield* waitForReader(reading, rest)
    }
    const end = pieces.end()
    if (end === undefined) return yield* Effect.fail(work.error(malformed))
    rest.push([LIST_END])
    return end.tokens
  })

/**
 * Reads a long answer. A separate fiber reads the part after its beginning, regardless of the reader's pace, within the time limit of
 * the call. The scope closes when everything has arrived or nothing more will.
 */
const readLong = (
  work: HttpWork,
  embeddings: EmbedWork,
  call: WorkCall,
  request: WorkRequest
): Effect.Effect<Embeddings, ProviderError> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const { maxBodyBytes } = request
      const scope = yield* Scope.make()
      const began = yield* Effect.exit(
        restore(
          Effect.gen(function* () {
            const stream = yield* Scope.provide(work.open(call, request), scope)
            const reading: OpenResponse = {
              work,
              embeddings,
              maxBodyBytes,
              stream,
              pieces: new EmbedPieces(embeddings),
              length: 0,
              patienceMs: call.clocks.totalMs / 2
            }
            return { reading, beginning: yield* begin(reading) }
          })
        )
      )
      if (Exit.isFailure(began)) return yield* Effect.andThen(Scope.close(scope, began), Effect.failCause(began.cause))
      const { beginning, reading } = began.value
      if ("data" in beginning) return yield* Effect.as(Scope.close(scope, began), beginning)
      const rest = new ArrivingList(beginning, reservedBytes(maxBodyBytes))
      rest.count = reading.pieces.count
      const finished = Effect.onExit(finish(reading, rest), (exit) =>
        Effect.andThen(
          Scope.close(scope, exit),
          Effect.sync(() => rest.end(exit))
        )
      )
      yield* Effect.forkDetach(Effect.interruptible(finished), { startImmediately: true })
      return { data: NOTHING, tokens: undefined, arriving: rest }
    })
  )

/** Embeddings at a host that answers in OpenAI's format, whatever its request format. */
export const httpEmbed =
  (
    work: HttpWork,
    target: WorkRequest["target"],
    encode: (call: WorkCall, embeddings: EmbedWork) => Result.Result<string, ProviderFault>
  ): NonNullable<Provider["embed"]> =>
  (call, embeddings) => {
    const maxBodyBytes = mostEmbedBytes(embeddings)
    const request = (body: string): WorkRequest => ({ target, accept: "application/json", body, maxBodyBytes })
    return Effect.flatMap(
      Effect.suspend(() => orFault(work, encode(call, embeddings))),
      (body) => {
        if (!isShort(maxBodyBytes)) return readLong(work, embeddings, call, request(body))
        return Effect.flatMap(work.post(call, request(body)), (answer) =>
          orFault(work, decodeEmbeddings(answer, embeddings, faultOfError))
        )
      }
    )
  }
