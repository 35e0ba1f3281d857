import { Clock, Effect, Redacted, Result, type Scope } from "effect"
import { eventsOf, finishEvent, isSaid, type Output, type OutputEvent } from "../domain/Output.ts"
import { Outbound } from "../platform/Outbound.ts"
import {
  headerOf,
  type OutboundError,
  type OutboundRequest,
  type OutboundStream,
  readUpTo,
  type targetOf
} from "../platform/OutboundCall.ts"
import { faultOfOutbound, presentable, type RefusedAnswer } from "./Failure.ts"
import {
  type ChatCall,
  type ChatSource,
  type Provider,
  ProviderError,
  type ProviderFault,
  type TakeEvents
} from "./Provider.ts"

/** The fold of a stream's bytes into output events. */
export interface ChatFold {
  /** The events these bytes complete, never a finish or a usage. */
  readonly push: (bytes: Uint8Array) => ReadonlyArray<OutputEvent>
  /** The events that close a stream which ended in order: its finish and its usage. */
  readonly end: () => ReadonlyArray<OutputEvent>
  /** The host has said that nothing more comes. */
  readonly done: boolean
  /** The host has said that the model stopped; what is lost after that is at most the usage. */
  readonly stopped: boolean
  /** What went wrong inside the stream, to be raised after the events that came before it. */
  readonly fault: ProviderFault | undefined
}

/** How one kind of host speaks chat over HTTP with JSON and server-sent events. */
export interface ChatWire {
  readonly target: (call: ChatCall, stream: boolean) => ReturnType<typeof targetOf>
  /** The credential's among them; `accept` and `content-type` are given. */
  readonly headers: Readonly<Record<string, string>>
  /** Further headers of one call, above those of every call. */
  readonly headersOf?: (call: ChatCall) => Readonly<Record<string, string>> | undefined
  readonly encode: (call: ChatCall, stream: boolean) => string
  readonly decode: (body: Uint8Array, requestId: string) => Result.Result<Output, ProviderFault>
  readonly fold: (requestId: string) => ChatFold
  /** What an answer other than a success means. */
  readonly faultOfStatus: (answer: RefusedAnswer, nowMs: number) => ProviderFault
}

export interface HttpChatOptions {
  readonly id: string
  readonly stopsBillingOnAbort: boolean
  /** Taken out of whatever the host says, should it repeat it. */
  readonly apiKey: Redacted.Redacted<string> | undefined
  readonly wire: ChatWire
}

/** The adapter of one host, over the outbound pool. */
export const makeHttpChat = (options: HttpChatOptions): Effect.Effect<Provider, never, Outbound> =>
  Effect.map(Outbound, (outbound) => {
    const host = hostOf(options)
    return {
      id: options.id,
      stopsBillingOnAbort: options.stopsBillingOnAbort,
      chat: (call) => chat(host, outbound, call),
      chatStream: (call) => chatStream(host, outbound, call)
    }
  })

const ERROR_BODY_BYTES = 64 * 1024
/** The longest whole answer that is read. */
const WHOLE_BODY_BYTES = 16 * 1024 * 1024

interface Host {
  readonly wire: ChatWire
  readonly request: (call: ChatCall, stream: boolean) => OutboundRequest
  readonly error: (fault: ProviderFault) => ProviderError
}

const hostOf = ({ apiKey, id, wire }: HttpChatOptions): Host => {
  const secret = apiKey === undefined ? "" : Redacted.value(apiKey)
  const headersOf = (accept: string) => ({
    "content-type": "application/json",
    accept,
    "user-agent": "tollgate",
    ...wire.headers
  })
  const whole = headersOf("application/json")
  const streamed = headersOf("text/event-stream")
  const headersFor = (call: ChatCall, stream: boolean) => {
    const headers = stream ? streamed : whole
    const own = wire.headersOf?.(call)
    return call.traceHeaders === undefined && own === undefined ? headers : { ...headers, ...own, ...call.traceHeaders }
  }
  return {
    wire,
    request: (call, stream) => ({
      ...wire.target(call, stream),
      method: "POST",
      headers: headersFor(call, stream),
      body: wire.encode(call, stream),
      clocks: {
        connectMs: call.clocks.connectMs,
        firstMs: call.clocks.firstTokenMs,
        idleMs: call.clocks.idleMs,
        totalMs: call.clocks.totalMs
      },
      maxBodyBytes: WHOLE_BODY_BYTES
    }),
    error: (fault) => new ProviderError({ provider: id, fault: presentable(fault, secret) })
  }
}

/** A caller can ask for more log-probabilities than are read: the answer is what was asked for, and would be so anywhere. */
const tooLong = ({ conversation }: ChatCall): ProviderFault => {
  const detail = `an answer longer than ${WHOLE_BODY_BYTES} bytes`
  return conversation.sampling.logprobs === true
    ? { _tag: "Lost", detail, ours: true, param: "logprobs" }
    : { _tag: "Malformed", detail }
}

const faultOfWhole = (error: OutboundError, call: ChatCall): ProviderFault =>
  error.reason._tag === "TooLarge" ? tooLong(call) : faultOfOutbound(error)

const chat = (host: Host, outbound: Outbound["Service"], call: ChatCall): Effect.Effect<Output, ProviderError> =>
  Effect.suspend(() => outbound.send(host.request(call, false))).pipe(
    Effect.matchEffect({
      onFailure: (error) => Effect.fail(host.error(faultOfWhole(error, call))),
      onSuccess: (answer) => (isOk(answer.status) ? whole(host, call, answer.body) : refused(host, answer))
    })
  )

const chatStream = Effect.fnUntraced(function* (
  host: Host,
  outbound: Outbound["Service"],
  call: ChatCall
): Effect.fn.Return<ChatSource, ProviderError, Scope.Scope> {
  const toProvider = (error: OutboundError) => host.error(faultOfOutbound(error))
  const stream = yield* Effect.mapError(outbound.open(host.request(call, true)), toProvider)
  if (!isOk(stream.status)) {
    const body = yield* Effect.orElseSucceed(readUpTo(stream, ERROR_BODY_BYTES), () => new Uint8Array())
    return yield* refused(host, { status: stream.status, headers: stream.headers, body })
  }
  if (headerOf(stream.headers, "content-type")?.includes("event-stream") !== false) {
    return sourceOf(host, stream, host.wire.fold(call.requestId), call)
  }
  // A host that does not stream answers whole.
  const body = yield* Effect.mapError(readUpTo(stream, WHOLE_BODY_BYTES + 1), toProvider)
  if (body.length > WHOLE_BODY_BYTES) return yield* Effect.fail(host.error(tooLong(call)))
  stream.finished()
  let events: ReadonlyArray<OutputEvent> | undefined = eventsOf(yield* whole(host, call, body))
  return {
    next: Effect.sync(() => {
      const given = events
      events = undefined
      return given
    })
  }
})

const sourceOf = (host: Host, stream: OutboundStream, fold: ChatFold, call: ChatCall): ChatSource => {
  let started = false
  let over = false
  /** Gives the events that close a stream in order, behind those that came with its last bytes. */
  const finish = (events: ReadonlyArray<OutputEvent>, take: TakeEvents): boolean => {
    over = true
    stream.finished()
    const all = [...events, ...fold.end().map((event) => ended(call, event))]
    return all.length === 0 || take(all)
  }
  const fault = (faulty: ProviderFault) => Effect.fail(host.error(faulty))
  const each = (take: TakeEvents): Effect.Effect<boolean, ProviderError> => {
    let wanted = true
    const onBytes = (bytes: Uint8Array): boolean => {
      const events = fold.push(bytes)
      if (!started && events.some(isSaid)) {
        started = true
        stream.started()
      }
      if (fold.done && fold.fault === undefined) wanted = finish(events, take)
      else if (events.length > 0) wanted = take(events)
      return wanted && !over && fold.fault === undefined
    }
    const onEnd = (otherwise: ProviderFault): Effect.Effect<boolean, ProviderError> =>
      fold.stopped ? Effect.sync(() => !finish([], take)) : fault(otherwise)
    return Effect.suspend(() => {
      if (over) return Effect.succeed(false)
      if (fold.fault !== undefined) return fault(fold.fault)
      return Effect.matchEffect(stream.each(onBytes), {
        onFailure: (error) => onEnd(faultOfOutbound(error)),
        onSuccess: (stopped) => {
          if (!stopped) return onEnd({ _tag: "Broken", detail: "the stream has no end" })
          if (!wanted) return Effect.succeed(true)
          return fold.fault === undefined ? Effect.succeed(false) : fault(fold.fault)
        }
      })
    })
  }
  const next: ChatSource["next"] = Effect.suspend(() => {
    let given: ReadonlyArray<OutputEvent> | undefined
    const one = each((events) => {
      given = events
      return false
    })
    return Effect.map(one, () => given)
  })
  return { next, each }
}

const isOk = (status: number) => status >= 200 && status < 300

const whole = (host: Host, call: ChatCall, body: Uint8Array): Effect.Effect<Output, ProviderError> => {
  const output = host.wire.decode(body, call.requestId)
  if (Result.isFailure(output)) return Effect.fail(host.error(output.failure))
  if (isAsked(call, output.success.stopSequence)) return Effect.succeed(output.success)
  const { stopSequence: _, ...rest } = output.success
  return Effect.succeed(rest)
}

/** Hosts also say of their own accord what ended a text: only a sequence that the caller gave is one of the caller's. */
const isAsked = ({ conversation }: ChatCall, stopSequence: string | undefined): boolean =>
  stopSequence === undefined || conversation.sampling.stop?.includes(stopSequence) === true

const ended = (call: ChatCall, event: OutputEvent): OutputEvent =>
  event._tag === "Finish" && !isAsked(call, event.stopSequence) ? finishEvent(event.reason, undefined) : event

const refused = (host: Host, answer: RefusedAnswer): Effect.Effect<never, ProviderError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(host.error(host.wire.faultOfStatus(answer, now))))
