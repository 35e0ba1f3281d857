/** How adapters ask their hosts for work other than chat: one request, one whole answer. */
import { Clock, Effect, Redacted, type Scope } from "effect"
import { Outbound } from "../platform/Outbound.ts"
import {
  type OutboundRequest,
  type OutboundResponse,
  type OutboundStream,
  readUpTo,
  type targetOf
} from "../platform/OutboundCall.ts"
import { plainStream, unpackedAnswer } from "../platform/OutboundEncoding.ts"
import { faultOfOutbound, faultOfWhole, presentable, type RefusedAnswer, wholeMs } from "./Failure.ts"
import { type Clocks, type Provider, ProviderError, type ProviderFault } from "./Provider.ts"
import type { WorkCall } from "./Work.ts"

export interface HttpWorkOptions {
  readonly id: string
  /** Taken out of whatever the host says, should it repeat it. */
  readonly apiKey: Redacted.Redacted<string> | undefined
  /** The credential's among them; `content-type` and `user-agent` are given. */
  readonly headers: Readonly<Record<string, string>>
  /** What an answer other than a success means. */
  readonly faultOfStatus: (answer: RefusedAnswer, nowMs: number) => ProviderFault
}

/** One request for what is at a place. */
export interface WorkQuestion {
  readonly target: ReturnType<typeof targetOf>
  readonly accept: string
  /** A longer answer is a fault, unless it is cut there. */
  readonly maxBodyBytes: number
}

/** One request: a body to a place. */
export interface WorkRequest extends WorkQuestion {
  readonly body: string | Uint8Array
  /** JSON when absent. */
  readonly contentType?: string | undefined
  /** The host makes and bills what it asks for as soon as it has heard it: one that may have been heard is not `Unreachable`. */
  readonly makes?: true
}

/** The requests of one host, over the outbound pool. */
export interface HttpWork {
  /** The body of a success. Any other answer, and any that does not come in the call's time, is a fault. */
  readonly post: (call: WorkCall, request: WorkRequest) => Effect.Effect<Uint8Array, ProviderError>
  /** The answer, whatever its status, cut at its limit. One that does not come in the call's time is a fault. */
  readonly get: (call: WorkCall, question: WorkQuestion) => Effect.Effect<OutboundResponse, ProviderError>
  /** The body of a success. Any other answer is a fault. */
  readonly accepted: (answer: OutboundResponse) => Effect.Effect<Uint8Array, ProviderError>
  /** The body of a success as it comes. The call's time is for all of it, and its idle clock for each silence, the first included. */
  readonly open: (call: WorkCall, request: WorkRequest) => Effect.Effect<OutboundStream, ProviderError, Scope.Scope>
  readonly error: (fault: ProviderFault) => ProviderError
}

/** What is read of an answer that says what went wrong. */
const MAX_REFUSAL_BYTES = 65_536

/** Hosts compress answers that nobody asked them to. */
const plain = (limitBytes: number | undefined) => (answer: OutboundResponse) =>
  unpackedAnswer(answer, limitBytes ?? MAX_REFUSAL_BYTES, false)

/** Whoever waits for an answer and not for tokens has no first one to wait for. */
const silenceOf = (fault: ProviderFault, { answer, idleMs }: Clocks): ProviderFault => {
  if (fault._tag !== "TimedOut" || fault.clock !== "first_token") return fault
  return { ...fault, clock: answer !== undefined && answer.ms < idleMs ? answer.clock : "idle" }
}

const isSuccess = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300

export const makeHttpWork = (options: HttpWorkOptions): Effect.Effect<HttpWork, never, Outbound> =>
  Effect.map(Outbound, (outbound) => {
    const { apiKey, faultOfStatus, headers, id } = options
    const secret = apiKey === undefined ? "" : Redacted.value(apiKey)
    const error = (fault: ProviderFault) => new ProviderError({ provider: id, fault: presentable(fault, secret) })
    const requestOf = (
      { clocks, traceHeaders }: WorkCall,
      { accept, maxBodyBytes, target }: WorkQuestion,
      { headers: own, ...request }: Pick<OutboundRequest, "method" | "headers" | "body">
    ): OutboundRequest => ({
      ...request,
      ...target,
      headers: { ...own, accept, "user-agent": "tollgate", ...headers, ...traceHeaders },
      clocks: { connectMs: clocks.connectMs, totalMs: wholeMs(clocks) },
      maxBodyBytes
    })
    const posting = (call: WorkCall, { body, contentType = "application/json", ...question }: WorkRequest) =>
      requestOf(call, question, { method: "POST", headers: { "content-type": contentType }, body })
    const sent = ({ clocks }: WorkCall, request: OutboundRequest, makes?: true) =>
      Effect.mapError(Effect.flatMap(outbound.send(request), plain(request.maxBodyBytes)), (failed) => {
        const { reason } = failed
        const heard = makes === true && reason._tag === "Broken"
        return error(heard ? { _tag: "Broken", detail: reason.detail } : faultOfWhole(failed, clocks))
      })
    const refused = (answer: RefusedAnswer) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(error(faultOfStatus(answer, now))))
    const accepted: HttpWork["accepted"] = (answer) =>
      isSuccess(answer) ? Effect.succeed(answer.body) : refused(answer)
    const post: HttpWork["post"] = (call, request) =>
      Effect.flatMap(sent(call, posting(call, request), request.makes), accepted)
    const get: HttpWork["get"] = (call, question) =>
      outbound.open(requestOf(call, question, { method: "GET", headers: {} })).pipe(
        Effect.flatMap((stream) => {
          const { headers, status } = stream
          const read = Effect.map(readUpTo(stream, question.maxBodyBytes), (body) => ({ status, headers, body }))
          return Effect.flatMap(read, plain(question.maxBodyBytes))
        }),
        Effect.mapError((failed) => error(faultOfWhole(failed, call.clocks))),
        Effect.scoped
      )
    const open: HttpWork["open"] = (call, request) => {
      const posted = posting(call, request)
      const { answer, idleMs, totalMs } = call.clocks
      const firstMs = Math.min(idleMs, answer?.ms ?? idleMs)
      return outbound.open({ ...posted, clocks: { ...posted.clocks, totalMs, firstMs, idleMs } }).pipe(
        Effect.flatMap((stream) => {
          stream.started()
          if (isSuccess(stream)) return plainStream(stream)
          const { headers, status } = stream
          const read = Effect.map(readUpTo(stream, MAX_REFUSAL_BYTES), (body) => ({ status, headers, body }))
          return Effect.flatMap(Effect.flatMap(read, plain(MAX_REFUSAL_BYTES)), refused)
        }),
        Effect.mapError((failed) =>
          failed._tag === "OutboundError" ? error(silenceOf(faultOfOutbound(failed), call.clocks)) : failed
        )
      )
    }
    return { post, get, open, accepted, error }
  })

/** The chat of a host that has none. Nobody asks it for any: its models are not models of text. */
export const withoutChat = (id: string): Pick<Provider, "chat" | "chatStream"> => {
  const none = Effect.fail(
    new ProviderError({ provider: id, fault: { _tag: "Refused", status: 404, detail: "it does not chat" } })
  )
  return { chat: () => none, chatStream: () => none }
}
