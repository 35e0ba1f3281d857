import { Clock, Effect, Redacted, Result, type Scope } from "effect"
import { eventsOf, isContent, type Output, type OutputEvent } from "../../domain/Output.ts"
import {
  headerOf,
  Outbound,
  type OutboundError,
  type OutboundHeaders,
  type OutboundRequest,
  type OutboundStream,
  readUpTo,
  targetOf
} from "../../platform/Outbound.ts"
import { type ChatCall, type ChatSource, type Provider, ProviderError, type ProviderFault } from "../Provider.ts"
import { decodeChat } from "./ChatDecode.ts"
import { type ChatWireOptions, encodeChat } from "./ChatEncode.ts"
import { ChatStreamFold } from "./ChatStream.ts"
import { faultOfOutbound, faultOfStatus, withoutSecret } from "./Failure.ts"

/** A host that speaks OpenAI's chat completions. */
export interface OpenAiOptions extends ChatWireOptions {
  readonly id: string
  /** Everything before `/chat/completions`, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string
  /** Absent for hosts of one's own that ask for none. */
  readonly apiKey: Redacted.Redacted<string> | undefined
  readonly stopsBillingOnAbort: boolean
  /** Sent with every call, such as an organisation's id. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The adapter of one host, over the outbound pool. */
export const makeOpenAi = (options: OpenAiOptions): Effect.Effect<Provider, never, Outbound> =>
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
const WHOLE_BODY_BYTES = 16 * 1024 * 1024

interface Host {
  readonly request: (call: ChatCall, stream: boolean) => OutboundRequest
  readonly error: (fault: ProviderFault) => ProviderError
}

const hostOf = (options: OpenAiOptions): Host => {
  const secret = options.apiKey === undefined ? "" : Redacted.value(options.apiKey)
  const target = targetOf(`${options.baseUrl.replace(/\/+$/, "")}/chat/completions`)
  const headersOf = (accept: string) => ({
    "content-type": "application/json",
    accept,
    "user-agent": "tollgate",
    ...(secret === "" ? {} : { authorization: `Bearer ${secret}` }),
    ...options.headers
  })
  const whole = headersOf("application/json")
  const streamed = headersOf("text/event-stream")
  return {
    request: (call, stream) => ({
      method: "POST",
      ...target,
      headers: { ...(stream ? streamed : whole), ...call.traceHeaders },
      body: encodeChat(call, stream, options),
      clocks: {
        connectMs: call.clocks.connectMs,
        firstMs: call.clocks.firstTokenMs,
        idleMs: call.clocks.idleMs,
        totalMs: call.clocks.totalMs
      },
      maxBodyBytes: WHOLE_BODY_BYTES
    }),
    error: (fault) => new ProviderError({ provider: options.id, fault: withoutSecret(fault, secret) })
  }
}

const chat = (host: Host, outbound: Outbound["Service"], call: ChatCall): Effect.Effect<Output, ProviderError> =>
  Effect.suspend(() => outbound.send(host.request(call, false))).pipe(
    Effect.matchEffect({
      onFailure: (error) => Effect.fail(host.error(faultOfOutbound(error))),
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
    return sourceOf(host, stream, new ChatStreamFold(call.requestId))
  }
  // A host that does not stream answers whole.
  const body = yield* Effect.mapError(readUpTo(stream, WHOLE_BODY_BYTES), toProvider)
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

const sourceOf = (host: Host, stream: OutboundStream, fold: ChatStreamFold): ChatSource => {
  let started = false
  let over = false
  const finish = (events: ReadonlyArray<OutputEvent>): Effect.Effect<ReadonlyArray<OutputEvent> | undefined> => {
    over = true
    stream.finished()
    const all = [...events, ...fold.end()]
    return Effect.succeed(all.length === 0 ? undefined : all)
  }
  const onBytes = (bytes: Uint8Array | undefined): ChatSource["next"] | typeof pull => {
    if (bytes === undefined) {
      return fold.stopped ? finish([]) : Effect.fail(host.error({ _tag: "Broken", detail: "the stream has no end" }))
    }
    const events = fold.push(bytes)
    if (!started && events.some(isContent)) {
      started = true
      stream.started()
    }
    if (fold.done && fold.fault === undefined) return finish(events)
    return events.length > 0 ? Effect.succeed(events) : next
  }
  const pull: Effect.Effect<ReadonlyArray<OutputEvent> | undefined, OutboundError | ProviderError> = Effect.flatMap(
    stream.read,
    onBytes
  )
  const guarded = Effect.catchTag(pull, "OutboundError", (error) =>
    fold.stopped ? finish([]) : Effect.fail(host.error(faultOfOutbound(error)))
  )
  const next: ChatSource["next"] = Effect.suspend(() => {
    if (over) return Effect.undefined
    return fold.fault === undefined ? guarded : Effect.fail(host.error(fold.fault))
  })
  return { next }
}

const isOk = (status: number) => status >= 200 && status < 300

const whole = (host: Host, call: ChatCall, body: Uint8Array): Effect.Effect<Output, ProviderError> => {
  const output = decodeChat(body, call.requestId)
  return Result.isSuccess(output) ? Effect.succeed(output.success) : Effect.fail(host.error(output.failure))
}

const refused = (
  host: Host,
  answer: { readonly status: number; readonly headers: OutboundHeaders; readonly body: Uint8Array }
): Effect.Effect<never, ProviderError> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(host.error(faultOfStatus(answer, now))))
