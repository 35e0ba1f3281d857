/** Turns the body of a streaming response into output events. */
import { Effect } from "effect"
import { isAnswerPart, type OutputEvent } from "../../domain/Output.ts"
import { type OutboundError, type OutboundStream, readUpTo } from "../../platform/outbound/OutboundCall.ts"
import { resumedStream, SNIFF_BYTES, unpackedStream } from "../../platform/outbound/OutboundEncoding.ts"
import { areEvents, type BodyKind, kindOf } from "./BodyKind.ts"
import { faultOfOutbound } from "../Failure.ts"
import type { ProviderError, ProviderFault } from "../ProviderError.ts"
import { type ChatSource, type TakeEvents } from "../Provider.ts"

/** Folds a stream's bytes into output events. */
export interface ChatFold {
  /** The events that these bytes complete, without the finish and the usage. */
  readonly push: (bytes: Uint8Array) => ReadonlyArray<OutputEvent>
  /** The events that the end of the body completes, because hosts omit the blank line after the last event. */
  readonly flush: () => ReadonlyArray<OutputEvent>
  /** The last events of a stream that ended correctly: its finish and its usage. */
  readonly end: () => ReadonlyArray<OutputEvent>
  /** Whether the host has said that nothing more follows. */
  readonly done: boolean
  /** Whether the host has said that the model stopped. Only the usage can be lost after that. */
  readonly stopped: boolean
  /** The fault inside the stream, to be raised after the events before it. */
  readonly fault: ProviderFault | undefined
}

/** How a host's adapter interprets a body. */
export interface EventSourceOptions {
  readonly fault: (fault: ProviderFault) => Effect.Effect<never, ProviderError>
  /** Maps the last events of the stream. */
  readonly ended: (event: OutputEvent) => OutputEvent
  /** The events of an answer that arrived as a whole. `rest` reads up to this many bytes. */
  readonly whole: (
    rest: (limitBytes: number) => Effect.Effect<Uint8Array, OutboundError>
  ) => Effect.Effect<ReadonlyArray<OutputEvent>, ProviderError>
}

/** A source of events that `next` returns as they arrive, never an empty list, and undefined at the end. */
export const pulledSource = (
  next: Effect.Effect<ReadonlyArray<OutputEvent> | undefined, ProviderError>
): ChatSource => ({
  each: (take) => {
    const further: Effect.Effect<boolean, ProviderError> = Effect.flatMap(next, (events) => {
      if (events === undefined) return Effect.succeed(false)
      return take(events) ? further : Effect.succeed(true)
    })
    return further
  }
})

/** A source with all events available. */
export const wholeSource = (events: ReadonlyArray<OutputEvent>): ChatSource => {
  let left: ReadonlyArray<OutputEvent> | undefined = events
  return {
    each: (take) =>
      Effect.sync(() => {
        const all = left
        left = undefined
        return all !== undefined && all.length > 0 && !take(all)
      })
  }
}

/** A body that is not plain events, identified by its first bytes. */
interface OtherBody {
  readonly kind: Exclude<BodyKind, "events">
  readonly start: Uint8Array
}

/** Collects the start of a body until its kind is known. */
class BodyStart {
  readonly #stream: OutboundStream
  #start: Uint8Array | undefined
  #known = false
  other: OtherBody | undefined

  constructor(stream: OutboundStream) {
    this.#stream = stream
  }

  /** The bytes to read as events. Empty while the kind is unknown; undefined when the body is not events. */
  push(bytes: Uint8Array): Uint8Array | undefined {
    if (this.#known) return bytes
    if (this.#start === undefined && areEvents(bytes, this.#stream.headers)) {
      this.#known = true
      return bytes
    }
    const start = this.#start === undefined ? bytes : Buffer.concat([this.#start, bytes])
    const kind = kindOf(start, this.#stream.headers, false)
    // The bytes so far are only whitespace.
    this.#start = start.length < SNIFF_BYTES ? start : undefined
    return this.#judged(start, kind)
  }

  /** Returns the bytes that are left at the end of the body. */
  end(): Uint8Array | undefined {
    const start = this.#start
    return this.#known || start === undefined
      ? undefined
      : this.#judged(start, kindOf(start, this.#stream.headers, true))
  }

  #judged(start: Uint8Array, kind: BodyKind | undefined): Uint8Array | undefined {
    if (kind === undefined) return undefined
    this.#known = true
    this.#start = undefined
    if (kind === "events") return start
    this.other = { kind, start }
    return undefined
  }
}

/**
 * The events of a stream. The first bytes show the kind of body: events go to the fold, a complete answer goes to the decoder, and a
 * compressed body is decompressed first.
 */
export const eventSource = (stream: OutboundStream, fold: ChatFold, options: EventSourceOptions): ChatSource => {
  const beginning = new BodyStart(stream)
  let otherSource: ChatSource | undefined
  let started = false
  let over = false
  /** Delivers the last events of a stream after those that its last bytes complete. */
  const finish = (events: ReadonlyArray<OutputEvent>, take: TakeEvents): boolean => {
    over = true
    stream.finished()
    const all = [...events, ...fold.end().map(options.ended)]
    return all.length === 0 || take(all)
  }
  const openOther = ({ kind, start }: OtherBody): Effect.Effect<ChatSource, ProviderError> => {
    if (kind !== "whole") return Effect.succeed(eventSource(unpackedStream(stream, start, kind), fold, options))
    const rest = (limitBytes: number) => readUpTo(resumedStream(stream, start), limitBytes)
    return Effect.map(options.whole(rest), (events) => {
      stream.finished()
      return wholeSource(events)
    })
  }
  const eachOfOther = (other: OtherBody, take: TakeEvents): Effect.Effect<boolean, ProviderError> =>
    Effect.flatMap(openOther(other), (source) => {
      otherSource = source
      return source.each(take)
    })
  const each = (take: TakeEvents): Effect.Effect<boolean, ProviderError> => {
    let wanted = true
    const onEvents = (bytes: Uint8Array): boolean => {
      const events = fold.push(bytes)
      if (!started && events.some(isAnswerPart)) {
        started = true
        stream.started()
      }
      if (fold.done && fold.fault === undefined) wanted = finish(events, take)
      else if (events.length > 0) wanted = take(events)
      return wanted && !over && fold.fault === undefined
    }
    const onBytes = (bytes: Uint8Array): boolean => {
      const known = beginning.push(bytes)
      return known === undefined ? beginning.other === undefined : onEvents(known)
    }
    const onLoss = (error: OutboundError): Effect.Effect<boolean, ProviderError> =>
      fold.stopped ? Effect.sync(() => !finish([], take)) : options.fault(faultOfOutbound(error))
    /** The last event may lack its blank line, and the kind of a short body may still be unknown. */
    const onEnd = (): Effect.Effect<boolean, ProviderError> => {
      const late = beginning.end()
      if (beginning.other !== undefined) return eachOfOther(beginning.other, take)
      const events = [...(late === undefined ? [] : fold.push(late)), ...fold.flush()]
      if (fold.stopped && fold.fault === undefined) return Effect.sync(() => !finish(events, take))
      if (events.length > 0 && !take(events)) return Effect.succeed(true)
      return options.fault(fold.fault ?? { _tag: "Broken", detail: "the stream has no end" })
    }
    return Effect.suspend(() => {
      if (otherSource !== undefined) return otherSource.each(take)
      if (over) return Effect.succeed(false)
      if (fold.fault !== undefined) return options.fault(fold.fault)
      return Effect.matchEffect(stream.each(onBytes), {
        onFailure: onLoss,
        onSuccess: (stopped) => {
          if (!stopped) return onEnd()
          if (beginning.other !== undefined) return eachOfOther(beginning.other, take)
          if (!wanted) return Effect.succeed(true)
          return fold.fault === undefined ? Effect.succeed(false) : options.fault(fold.fault)
        }
      })
    })
  }
  return { each }
}
