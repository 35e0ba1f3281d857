/** How adapters ask their hosts for work other than chat: one request, one whole answer. */
import { Clock, Effect, Redacted } from "effect"
import { Outbound, type OutboundRequest, type OutboundResponse, type targetOf } from "../platform/Outbound.ts"
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

/** One request for what is at a place. */
export interface WorkQuestion {
  readonly target: ReturnType<typeof targetOf>
  readonly accept: string
  /** A longer answer is a fault. */
  readonly maxBodyBytes: number
}

/** One request: a body to a place. */
export interface WorkRequest extends WorkQuestion {
  readonly body: string | Uint8Array
  /** JSON when absent. */
  readonly contentType?: string | undefined
}

/** The requests of one host, over the outbound pool. */
export interface HttpWork {
  /** The body of a success. Any other answer, and any that does not come in the call's time, is a fault. */
  readonly post: (call: WorkCall, request: WorkRequest) => Effect.Effect<Uint8Array, ProviderError>
  /** The whole answer, whatever its status. One that does not come in the call's time is a fault. */
  readonly get: (call: WorkCall, question: WorkQuestion) => Effect.Effect<OutboundResponse, ProviderError>
  /** The body of a success. Any other answer is a fault. */
  readonly accepted: (answer: OutboundResponse) => Effect.Effect<Uint8Array, ProviderError>
  readonly error: (fault: ProviderFault) => ProviderError
}

export const makeHttpWork = (options: HttpWorkOptions): Effect.Effect<HttpWork, never, Outbound> =>
  Effect.map(Outbound, (outbound) => {
    const { apiKey, faultOfStatus, headers, id } = options
    const secret = apiKey === undefined ? "" : Redacted.value(apiKey)
    const error = (fault: ProviderFault) => new ProviderError({ provider: id, fault: presentable(fault, secret) })
    const told = { "user-agent": "tollgate", ...headers }
    const sent = (
      { clocks, traceHeaders }: WorkCall,
      { accept, maxBodyBytes, target }: WorkQuestion,
      request: Pick<OutboundRequest, "method" | "headers" | "body">
    ) =>
      outbound
        .send({
          ...request,
          ...target,
          headers: { ...request.headers, accept, ...told, ...traceHeaders },
          clocks: { connectMs: clocks.connectMs, totalMs: clocks.totalMs },
          maxBodyBytes
        })
        .pipe(Effect.mapError((failed) => error(faultOfOutbound(failed))))
    const accepted: HttpWork["accepted"] = (answer) =>
      answer.status >= 200 && answer.status < 300
        ? Effect.succeed(answer.body)
        : Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(error(faultOfStatus(answer, now))))
    const post: HttpWork["post"] = (call, { body, contentType = "application/json", ...question }) =>
      Effect.flatMap(sent(call, question, { method: "POST", headers: { "content-type": contentType }, body }), accepted)
    const get: HttpWork["get"] = (call, question) => sent(call, question, { method: "GET", headers: {} })
    return { post, get, accepted, error }
  })

/** The chat of a host that has none. Nobody asks it for any: its models are not models of text. */
export const withoutChat = (id: string): Pick<Provider, "chat" | "chatStream"> => {
  const none = Effect.fail(
    new ProviderError({ provider: id, fault: { _tag: "Refused", status: 404, detail: "it does not chat" } })
  )
  return { chat: () => none, chatStream: () => none }
}
