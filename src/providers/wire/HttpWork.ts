/** Sends requests for work other than chat: one request, one complete answer. */
import { Clock, Effect, Redacted, type Scope } from "effect"
import { Outbound } from "../../platform/outbound/Outbound.ts"
import {
  type OutboundRequest,
  type OutboundResponse,
  type OutboundStream,
  readUpTo,
  type targetOf
} from "../../platform/outbound/OutboundCall.ts"
import { plainStream, unpackedAnswer } from "../../platform/outbound/OutboundEncoding.ts"
import { faultOfOutbound, faultOfWhole, presentable, type RefusedAnswer, wholeMs } from "../Failure.ts"
import { ProviderError, type ProviderFault } from "../ProviderError.ts"
import type { Provider, WorkCall } from "../Provider.ts"
import type { Clocks } from "../pool/AnswerClock.ts"

export interface HttpWorkOptions {
  readonly id: string
  /** Removed from every text of the host, in case the host repeats it. */
  readonly apiKey: Redacted.Redacted<string> | undefined
  /** Headers of every call, the credential's included. `content-type` and `user-agent` are added. */
  readonly headers: Readonly<Record<string, string>>
  /** Interprets a response without a success status. */
  readonly faultOfStatus: (answer: RefusedAnswer, nowMs: number) => ProviderFault
}

/** One GET request for a path. */
export interface WorkGetRequest {
  readonly target: ReturnType<typeof targetOf>
  readonly accept: string
  /** A longer response is a fault, unless the method cuts it there. */
  readonly maxBodyBytes: number
}

/** One POST request with a body. */
export interface WorkRequest extends WorkGetRequest {
  readonly body: string | Uint8Array
  /** JSON when absent. */
  readonly contentType?: string | undefined
  /**
   * Whether the host makes and bills the result as soon as it has received the request. A request that may have been received is then
   * not `Unreachable`.
   */
  readonly makes?: true
}

/** The requests to one host, on the outbound pool. */
export interface HttpWork {
  /** Returns the body of a successful response. Any other response, and a timeout of the call, is a fault. */
  readonly post: (call: WorkCall, request: WorkRequest) => Effect.Effect<Uint8Array, ProviderError>
  /** Returns the response of any status, cut at its limit. A timeout of the call is a fault. */
  readonly get: (call: WorkCall, request: WorkGetRequest) => Effect.Effect<OutboundResponse, ProviderError>
  /** Returns the body of a successful response. Any other response is a fault. */
  readonly accepted: (answer: OutboundResponse) => Effect.Effect<Uint8Array, ProviderError>
  /**
   * Returns the body of a successful response as it arrives. The call's total limit covers all of it, and its idle limit each silence,
   * the first included.
   */
  readonly open: (call: WorkCall, request: WorkRequest) => Effect.Effect<OutboundStream, ProviderError, Scope.Scope>
  readonly error: (fault: ProviderFault) => ProviderError
}

/** How much of an error response is read, in bytes. */
const MAX_REFUSAL_BYTES = 65_536

/**
 * Decompresses responses, because some hosts compress them although the request did not ask for it. An error response that cannot be
 * decompressed stays as it is, because its status tells the cause.
 */
const plain = (limitBytes: number | undefined) => (answer: OutboundResponse) => {
  const unpacked = unpackedAnswer(answer, limitBytes ?? MAX_REFUSAL_BYTES, false)
  return isSuccess(answer) ? unpacked : Effect.orElseSucceed(unpacked, () => answer)
}

const isSuccess = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300

/** A complete answer has no first token, so a timeout of that limit counts as the answer's. */
const silenceOf = (fault: ProviderFault, { answer, idleMs }: Clocks): ProviderFault => {
  if (fault._tag !== "TimedOut" || fault.clock !== "first_token") return fault
  return { ...fault, clock: answer !== undefined && answer.ms < idleMs ? answer.clock : "idle" }
}

export const makeHttpWork = (options: HttpWorkOptions): Effect.Effect<HttpWork, never, Outbound> =>
  Effect.map(Outbound, (outbound) => {
    const { apiKey, faultOfStatus, headers, id } = options
    const secret = apiKey === undefined ? "" : Redacted.value(apiKey)
    const error = (fault: ProviderFault) => new ProviderError({ provider: id, fault: presentable(fault, secret) })
    const requestOf = (
      { clocks, traceHeaders }: WorkCall,
      { accept, maxBodyBytes, target }: WorkGetRequest,
      { headers: own, ...request }: Pick<OutboundRequest, "method" | "headers" | "body">
    ): OutboundRequest => ({
      ...request,
      ...target,
      headers: { ...own, accept, "user-agent": "tollgate", ...headers, ...traceHeaders },
      clocks: { connectMs: clocks.connectMs, totalMs: wholeMs(clocks) },
      maxBodyBytes
    })
    const posting = (call: WorkCall, { body, contentType = "application/json", ...request }: WorkRequest) =>
      requestOf(call, request, { method: "POST", headers: { "content-type": contentType }, body })
    const sent = ({ clocks }: WorkCall, request: OutboundRequest, makes?: true) =>
      Effect.mapError(Effect.flatMap(outbound.send(request), plain(request.maxBodyBytes)), (failed) => {
        const { reason } = failed
        const broken = makes === true && reason._tag === "Broken"
        return error(broken ? { _tag: "Broken", detail: reason.detail } : faultOfWhole(failed, clocks))
      })
    const refused = (answer: RefusedAnswer) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(error(faultOfStatus(answer, now))))
    const accepted: HttpWork["accepted"] = (answer) =>
      isSuccess(answer) ? Effect.succeed(answer.body) : refused(answer)
    const post: HttpWork["post"] = (call, request) =>
      Effect.flatMap(sent(call, posting(call, request), request.makes), accepted)
    const get: HttpWork["get"] = (call, request) =>
      outbound.open(requestOf(call, request, { method: "GET", headers: {} })).pipe(
        Effect.flatMap((stream) => {
          const { headers, status } = stream
          const read = Effect.map(readUpTo(stream, request.maxBodyBytes), (body) => ({ status, headers, body }))
          return Effect.flatMap(read, plain(request.maxBodyBytes))
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
          // The status tells the cause, even when the body breaks off.
          const read = Effect.orElseSucceed(readUpTo(stream, MAX_REFUSAL_BYTES), () => new Uint8Array())
          const answer = Effect.map(read, (body) => ({ status, headers, body }))
          return Effect.flatMap(Effect.flatMap(answer, plain(MAX_REFUSAL_BYTES)), refused)
        }),
        Effect.mapError((failed) =>
          failed._tag === "OutboundError" ? error(silenceOf(faultOfOutbound(failed), call.clocks)) : failed
        )
      )
    }
    return { post, get, open, accepted, error }
  })

/** The chat functions of a host without chat. They are never called, because its models are not text models. */
export const withoutChat = (id: string): Pick<Provider, "chat" | "chatStream"> => {
  const none = Effect.fail(
    new ProviderError({ provider: id, fault: { _tag: "Refused", status: 404, detail: "it does not chat" } })
  )
  return { chat: () => none, chatStream: () => none }
}
