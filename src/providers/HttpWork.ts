/** How adapters ask their hosts for work other than chat: one request, one whole answer. */
import { Clock, Effect, Redacted, type Scope } from "effect"
import { Outbound, type OutboundRequest, type OutboundStream, readUpTo, type targetOf } from "../platform/Outbound.ts"
import { faultOfOutbound, presentable, type RefusedAnswer } from "./Failure.ts"
import { type Provider, ProviderError, type ProviderFault } from "./Provider.ts"
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

/** One request: a JSON body to a place. */
export interface WorkRequest {
  readonly target: ReturnType<typeof targetOf>
  readonly accept: string
  readonly body: string
  /** A longer answer is a fault. */
  readonly maxBodyBytes: number
}

/** The requests of one host, over the outbound pool. */
export interface HttpWork {
  /** The body of a success. Any other answer, and any that does not come in the call's time, is a fault. */
  readonly post: (call: WorkCall, request: WorkRequest) => Effect.Effect<Uint8Array, ProviderError>
  /** The body of a success as it comes. The call's time is for all of it. */
  readonly open: (call: WorkCall, request: WorkRequest) => Effect.Effect<OutboundStream, ProviderError, Scope.Scope>
  readonly error: (fault: ProviderFault) => ProviderError
}

/** What is read of an answer that says what went wrong. */
const MAX_REFUSAL_BYTES = 65_536

const isSuccess = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300

export const makeHttpWork = (options: HttpWorkOptions): Effect.Effect<HttpWork, never, Outbound> =>
  Effect.map(Outbound, (outbound) => {
    const { apiKey, faultOfStatus, headers, id } = options
    const secret = apiKey === undefined ? "" : Redacted.value(apiKey)
    const error = (fault: ProviderFault) => new ProviderError({ provider: id, fault: presentable(fault, secret) })
    const requestOf = (
      { clocks, traceHeaders }: WorkCall,
      { accept, body, maxBodyBytes, target }: WorkRequest
    ): OutboundRequest => ({
      method: "POST",
      ...target,
      headers: { "content-type": "application/json", accept, "user-agent": "tollgate", ...headers, ...traceHeaders },
      body,
      clocks: { connectMs: clocks.connectMs, totalMs: clocks.totalMs },
      maxBodyBytes
    })
    const refused = (answer: RefusedAnswer) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(error(faultOfStatus(answer, now))))
    const post: HttpWork["post"] = (call, request) =>
      outbound.send(requestOf(call, request)).pipe(
        Effect.mapError((failed) => error(faultOfOutbound(failed))),
        Effect.flatMap((answer) => (isSuccess(answer) ? Effect.succeed(answer.body) : refused(answer)))
      )
    const open: HttpWork["open"] = (call, request) =>
      outbound.open(requestOf(call, request)).pipe(
        Effect.flatMap((stream) => {
          if (isSuccess(stream)) return Effect.succeed(stream)
          const { headers, status } = stream
          return Effect.flatMap(readUpTo(stream, MAX_REFUSAL_BYTES), (body) => refused({ status, headers, body }))
        }),
        Effect.mapError((failed) => (failed._tag === "OutboundError" ? error(faultOfOutbound(failed)) : failed))
      )
    return { post, open, error }
  })

/** The chat of a host that has none. Nobody asks it for any: its models are not models of text. */
export const withoutChat = (id: string): Pick<Provider, "chat" | "chatStream"> => {
  const none = Effect.fail(
    new ProviderError({ provider: id, fault: { _tag: "Refused", status: 404, detail: "it does not chat" } })
  )
  return { chat: () => none, chatStream: () => none }
}
