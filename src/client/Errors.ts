/** The errors that a call of the client can throw. */
import type { ErrorObject, FieldDetail } from "./Contract.ts"

/** The envelope of an error response. The legacy operations and `/messages` have other forms of it. */
interface Envelope {
  readonly error?: Partial<ErrorObject> | string
  readonly message?: string
  readonly code?: string
  readonly param?: string | null
  readonly details?: ReadonlyArray<FieldDetail>
  readonly request_id?: string
}

/** A response with an error status. */
export class TollgateError extends Error {
  override readonly name = "TollgateError"
  /** The HTTP status. */
  readonly status: number
  /** The error code for programs, such as `insufficient_credits`. */
  readonly code: string
  /** The kind of the error, such as `invalid_request_error`. */
  readonly type: string
  /** The first invalid field of the request. */
  readonly param: string | undefined
  /** Every invalid field of the request. */
  readonly details: ReadonlyArray<FieldDetail>
  /** The id of the request, by which the operator finds it. */
  readonly requestId: string | undefined
  /** Whether the same request may succeed later. */
  readonly shouldRetry: boolean
  /** The parsed body of the response. */
  readonly body: unknown

  constructor(status: number, headers: Headers, body: unknown, shouldRetry: boolean) {
    const envelope: Envelope = typeof body === "object" && body !== null ? body : {}
    const error: Partial<ErrorObject> =
      typeof envelope.error === "object" ? envelope.error : (envelope as Partial<ErrorObject>)
    super(error.message ?? (typeof envelope.error === "string" ? envelope.error : `status ${status}`))
    this.status = status
    this.code = error.code ?? envelope.code ?? "unknown"
    this.type = error.type ?? "unknown"
    this.param = error.param ?? undefined
    this.details = envelope.details ?? []
    this.requestId = headers.get("x-request-id") ?? envelope.request_id
    this.shouldRetry = shouldRetry
    this.body = body
  }
}

/** No response arrived: the connection failed or the call timed out. `cause` is the reason. */
export class TollgateConnectionError extends Error {
  override readonly name = "TollgateConnectionError"
  constructor(message: string, cause: unknown) {
    super(message, { cause })
  }
}

/** A stream that ended before its last event, or during which the provider failed. */
export class TollgateStreamError extends Error {
  override readonly name = "TollgateStreamError"
  /** The error in the stream's last event; undefined when the connection ended. */
  readonly error: Partial<ErrorObject> | undefined
  constructor(message: string, error?: Partial<ErrorObject>) {
    super(message)
    this.error = error
  }
}
