/** Failures as responses: their bodies in each form, their headers, and what the log says. */
import { Effect, Tracer } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ErrorBody } from "../../schemas/Errors.ts"
import { encodeLegacyFailure } from "../dialects/legacy/LegacyFailure.ts"
import { encodeMessagesFailure } from "../dialects/messages/MessagesFailure.ts"
import type { Failure, Reason } from "../domain/Failure.ts"
import { pathWithin } from "../domain/SchemaProblems.ts"
import type { ErrorForm, Exchange } from "./edge/Exchange.ts"
import { clipText, MAX_MESSAGE } from "./FailureMessages.ts"
import { messageOf, rowOf } from "./FailureRows.ts"
import { loggedReason } from "./edge/LoggedReason.ts"

/** The maximum characters of a field's name, so that a response does not grow with the request it rejects. */
const MAX_FIELD = 256

/** The path of a field in the body, or in the part of the body that the failure is about. */
const fieldAt = (at: string | undefined, field: string): string =>
  clipText(at === undefined ? field : pathWithin(at, field), MAX_FIELD)

/** The message of a failure in a part of the body: it names each field by its path in the whole body. */
const messageAt = (at: string, reason: Reason): string => {
  if (reason._tag !== "ValidationError") return clipText(`${at}: ${messageOf(reason)}`, MAX_MESSAGE)
  const [first, ...others] = reason.problems.map((problem) => ({ ...problem, field: fieldAt(at, problem.field) }))
  return first === undefined ? at : messageOf({ ...reason, problems: [first, ...others] })
}

/** The error object of a failure, for a body or a stream event. */
export const describe = ({ at, reason }: Failure): ErrorBody["error"] => {
  const { code, param: paramOf, type } = rowOf(reason)
  const param = paramOf(reason)
  const message = at === undefined ? messageOf(reason) : messageAt(at, reason)
  return { message, type, code, param: param === null ? (at ?? null) : fieldAt(at, param) }
}

/** Providers rarely name the rejected field. Without it, there are no details to list. */
const detailsOf = ({ at, reason }: Failure): Pick<ErrorBody, "details"> => {
  if (reason._tag === "ValidationError") {
    const details = reason.problems.map(({ field, message }) => ({
      field: fieldAt(at, field),
      message: clipText(message, MAX_MESSAGE)
    }))
    return { details }
  }
  if (reason._tag !== "ProviderRefused") return {}
  return {
    details: reason.param === undefined ? [] : [{ field: fieldAt(at, reason.param), message: messageOf(reason) }]
  }
}

/** The whole body of a failure. */
export const bodyOf = (failure: Failure): ErrorBody => {
  const { reason } = failure
  return {
    error: describe(failure),
    ...detailsOf(failure),
    ...rowOf(reason).body(reason)
  }
}

/** The headers that a failure adds to every response's headers. */
export const headersOf = ({ reason, replayed }: Failure): Readonly<Record<string, string>> => {
  const { headers, isTransient, retry, retryAfter } = rowOf(reason)
  const seconds = retryAfter(reason)
  return {
    "x-should-retry": String(retry || isTransient(reason)),
    ...(seconds === undefined ? {} : { "retry-after": String(seconds), "retry-after-ms": String(seconds * 1000) }),
    ...(replayed === true ? { "idempotency-replayed": "true" } : {}),
    ...headers(reason)
  }
}

/** The codes of JSON-RPC 2.0 for a message that is no JSON, and for what a server defines itself. */
const RPC_PARSE_ERROR = -32_700
const RPC_SERVER_ERROR = -32_000

/** The code of a JSON-RPC error, and the members of its `data` besides the envelope. */
interface RpcCode {
  readonly code: number
  readonly data?: object | undefined
}

const rpcCodeOf = ({ error }: ErrorBody): RpcCode => ({
  code: error.code === "invalid_json" ? RPC_PARSE_ERROR : RPC_SERVER_ERROR
})

/** A failure as the JSON-RPC error that answers the message with this id. Its `data` is the whole envelope. */
export const rpcErrorOf = (
  body: ErrorBody,
  id: string | number | null,
  { code, data }: RpcCode = rpcCodeOf(body)
): object => ({ jsonrpc: "2.0", id, error: { code, message: body.error.message, data: { ...data, ...body } } })

/** The error body in each form. */
export const forms: Readonly<Record<ErrorForm, (body: ErrorBody, requestId: string) => object>> = {
  standard: (body) => body,
  legacy: encodeLegacyFailure,
  messages: encodeMessagesFailure,
  rpc: (body) => rpcErrorOf(body, null)
}

/** Records a failure in the metrics and the log line of its request. */
const recordFailure = (failure: Failure, { labels, line }: Partial<Pick<Exchange, "labels" | "line">>): void => {
  const { reason } = failure
  const { code } = rowOf(reason)
  if (labels !== undefined) labels.error = code
  line?.failed({ code, reason: loggedReason(failure, messageOf(reason)) })
}

/** The response to a failed request, in the error form of its operation. */
export const respond = (
  failure: Failure,
  exchange: Pick<Exchange, "errors" | "requestId"> & Partial<Pick<Exchange, "labels" | "line">> = {
    errors: "standard",
    requestId: ""
  }
): HttpServerResponse.HttpServerResponse => {
  recordFailure(failure, exchange)
  const { errors, requestId } = exchange
  return HttpServerResponse.jsonUnsafe(forms[errors](bodyOf(failure), requestId), {
    status: rowOf(failure.reason).status,
    headers: headersOf(failure)
  })
}

/** Marks the span of a response that failed because of the gateway after its headers were sent: its status says success. */
export const markFailedResponse = (failure: Failure, exchange: Exchange): void => {
  recordFailure(failure, exchange)
  const { code, status } = rowOf(failure.reason)
  if (status >= 500) exchange.span?.fail(code)
}

/** Logs the part of a failure that operators should know and callers should not, with the request's id and trace. */
export const logFailure = ({ log, reason }: Failure, { requestId, span }: Exchange): Effect.Effect<void> => {
  const bug = reason._tag === "InternalError"
  if (log === undefined && !bug) return Effect.void
  const entry = bug ? Effect.logError("a defect answered a request", log) : Effect.logWarning(reason._tag, log)
  const annotated = Effect.annotateLogs(entry, { request_id: requestId })
  return span === undefined ? annotated : Effect.provideService(annotated, Tracer.ParentSpan, span.forLogs)
}
