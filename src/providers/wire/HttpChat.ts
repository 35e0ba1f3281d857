import { Clock, Effect, Redacted, Result, type Scope } from "effect"
import { eventsOf, finishEvent, type Output, type OutputEvent, OutputFold } from "../../domain/Output.ts"
import { Outbound } from "../../platform/outbound/Outbound.ts"
import {
  type OutboundError,
  type OutboundRequest,
  type OutboundResponse,
  readUpTo,
  type targetOf
} from "../../platform/outbound/OutboundCall.ts"
import { codecOf, unpackedAnswer } from "../../platform/outbound/OutboundEncoding.ts"
import { holdsEvents } from "./BodyKind.ts"
import { type ChatFold, eventSource } from "./EventSource.ts"
import { faultOfOutbound, faultOfWhole, presentable, type RefusedAnswer, tooLongFault, wholeMs } from "../Failure.ts"
import { ProviderError, type ProviderFault } from "../ProviderError.ts"
import type { ChatCall, ChatSource, Provider } from "../Provider.ts"

/** How one kind of host implements chat over HTTP with JSON and server-sent events. */
export interface ChatWire {
  readonly target: (call: ChatCall, stream: boolean) => ReturnType<typeof targetOf>
  /** Headers of every call, the credential's included. `accept` and `content-type` are added. */
  readonly headers: Readonly<Record<string, string>>
  /** Additional headers of one call, which override those of every call. */
  readonly headersOf?: (call: ChatCall) => Readonly<Record<string, string>> | undefined
  readonly encode: (call: ChatCall, stream: boolean) => string
  readonly decode: (body: Uint8Array, requestId: string, call: ChatCall) => Result.Result<Output, ProviderFault>
  readonly fold: (requestId: string, call: ChatCall) => ChatFold
  /** Interprets a response without a success status. */
  readonly faultOfStatus: (answer: RefusedAnswer, nowMs: number) => ProviderFault
}

export interface HttpChatOptions {
  readonly id: string
  readonly stopsBillingOnAbort: boolean
  /** Removed from every text of the host, in case the host repeats it. */
  readonly apiKey: Redacted.Redacted<string> | undefined
  readonly wire: ChatWire
}

/** The adapter of one host, on the outbound pool. */
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
/** The longest complete answer that is read, in bytes. */
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
        totalMs: stream ? call.clocks.totalMs : wholeMs(call.clocks)
      },
      maxBodyBytes: WHOLE_BODY_BYTES
    }),
    error: (fault) => new ProviderError({ provider: id, fault: presentable(fault, secret) })
  }
}

const tooLong = (call: ChatCall): ProviderFault => tooLongFault(call, `${WHOLE_BODY_BYTES} bytes`)

const faultOfAnswer = (error: OutboundError, call: ChatCall): ProviderFault =>
  error.reason._tag === "TooLarge" ? tooLong(call) : faultOfWhole(error, call.clocks)

const chat = (host: Host, outbound: Outbound["Service"], call: ChatCall): Effect.Effect<Output, ProviderError> =>
  Effect.suspend(() => outbound.send(host.request(call, false))).pipe(
    Effect.matchEffect({
      onFailure: (error) => Effect.fail(host.error(faultOfAnswer(error, call))),
      onSuccess: (answer) => {
        if (codecOf(answer.headers, answer.body, true) !== undefined) return unpacked(host, call, answer)
        return isOk(answer.status) ? whole(host, call, answer.body) : refused(host, answer)
      }
    })
  )

/** Reads a complete answer that was compressed. */
const unpacked = (host: Host, call: ChatCall, answer: OutboundResponse): Effect.Effect<Output, ProviderError> =>
  Effect.matchEffect(unpackedAnswer(answer, WHOLE_BODY_BYTES, true), {
    onFailure: (error) =>
      isOk(answer.status) ? Effect.fail(host.error(faultOfAnswer(error, call))) : refused(host, answer),
    onSuccess: (plain) => (isOk(plain.status) ? whole(host, call, plain.body) : refused(host, plain))
  })

const chatStream = Effect.fnUntraced(function* (
  host: Host,
  outbound: Outbound["Service"],
  call: ChatCall
): Effect.fn.Return<ChatSource, ProviderError, Scope.Scope> {
  const toProvider = (error: OutboundError) => host.error(faultOfOutbound(error))
  const stream = yield* Effect.mapError(outbound.open(host.request(call, true)), toProvider)
  if (!isOk(stream.status)) {
    const body = yield* Effect.orElseSucceed(readUpTo(stream, ERROR_BODY_BYTES), () => new Uint8Array())
    const answer = { status: stream.status, headers: stream.headers, body }
    const plain = unpackedAnswer(answer, ERROR_BODY_BYTES, true)
    return yield* refused(host, yield* Effect.orElseSucceed(plain, () => answer))
  }
  return eventSource(stream, host.wire.fold(call.requestId, call), {
    fault: (fault) => Effect.fail(host.error(fault)),
    ended: (event) => ended(call, event),
    whole: (rest) =>
      Effect.flatMap(Effect.mapError(rest(WHOLE_BODY_BYTES + 1), toProvider), (body) =>
        body.length > WHOLE_BODY_BYTES
          ? Effect.fail(host.error(tooLong(call)))
          : Effect.map(whole(host, call, body), eventsOf)
      )
  })
})

const isOk = (status: number) => status >= 200 && status < 300

/** Reads events that arrived in place of a complete answer. */
const folded = ({ wire }: Host, call: ChatCall, body: Uint8Array): Result.Result<Output, ProviderFault> => {
  const fold = wire.fold(call.requestId, call)
  const output = new OutputFold()
  for (const event of fold.push(body)) output.push(event)
  for (const event of fold.flush()) output.push(event)
  if (fold.fault !== undefined) return Result.fail(fold.fault)
  if (!fold.stopped) return Result.fail({ _tag: "Broken", detail: "the stream has no end" })
  for (const event of fold.end()) output.push(event)
  return Result.succeed(output.output())
}

const whole = (host: Host, call: ChatCall, body: Uint8Array): Effect.Effect<Output, ProviderError> => {
  const output = holdsEvents(body) ? folded(host, call, body) : host.wire.decode(body, call.requestId, call)
  if (Result.isFailure(output)) return Effect.fail(host.error(output.failure))
  if (isAsked(call, output.success.stopSequence)) return Effect.succeed(output.success)
  const { stopSequence: _, ...rest } = output.success
  return Effect.succeed(rest)
}

/** Some hosts also report stop sequences of their own. Only a sequence that the caller gave counts as the caller's. */
const isAsked = ({ conversation }: ChatCall, stopSequence: string | undefined): boolean =>
  stopSequence === undefined || conversation.sampling.stop?.includes(stopSequence) === true

const ended = (call: ChatCall, event: OutputEvent): OutputEvent =>
  event._tag === "Finish" && !isAsked(call, event.stopSequence) ? finishEvent(event.reason, undefined) : event

const refused = (host: Host, answer: RefusedAnswer): Effect.Effect<never, ProviderError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(host.error(host.wire.faultOfStatus(answer, now))))
