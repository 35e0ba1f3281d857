/** Sends a request, and retries it when a retry can succeed. */
import { TollgateConnectionError, TollgateError } from "./Errors.ts"
import { type ResponseHead, isRetryable, waitOf } from "./Retry.ts"

/** The service of a client, and how the client calls it. */
export interface Connection {
  /** The origin of the service. */
  readonly origin: string
  readonly apiKey: string | undefined
  readonly fetch: typeof fetch
  /** The maximum number of retries. */
  readonly maxRetries: number
  /** The maximum time until the response headers arrive, in milliseconds. */
  readonly timeoutMs: number
}

/** The origin of the service from its address, with or without `/api/v1`. Throws a `TypeError` for anything but a string. */
export const originOf = (baseUrl: string): string => {
  if (typeof baseUrl !== "string") {
    throw new TypeError(
      `\`baseUrl\` must be the address of the gateway, such as http://127.0.0.1:8787; got ${String(baseUrl)}.`
    )
  }
  return baseUrl.replace(/\/+$/, "").replace(/\/api(\/v1)?$/, "")
}

export interface OutgoingRequest {
  readonly method: string
  /** The path and the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: BodyInit | undefined
  /** Whether the request is idempotent: sending it twice has the effect of sending it once. */
  readonly repeatable: boolean
  readonly signal: AbortSignal | undefined
}

const headOf = ({ headers, status }: Response): ResponseHead => ({ status, header: (name) => headers.get(name) })

const sleep = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const left = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    if (signal?.aborted === true) return left()
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", left)
      resolve()
    }, ms)
    signal?.addEventListener("abort", left, { once: true })
  })

/** Fetches once. The timeout covers the time until the headers arrive, not the body. */
const fetchOnce = async (connection: Connection, outgoing: OutgoingRequest): Promise<Response> => {
  const controller = new AbortController()
  const { signal } = outgoing
  const abort = () => controller.abort(signal?.reason)
  if (signal?.aborted === true) abort()
  // The listener stays, because the signal also aborts the body of a stream.
  signal?.addEventListener("abort", abort, { once: true })
  const timer = setTimeout(
    () => controller.abort(new DOMException("the service did not answer in time", "TimeoutError")),
    connection.timeoutMs
  )
  try {
    return await connection.fetch(connection.origin + outgoing.path, {
      method: outgoing.method,
      headers: outgoing.headers,
      signal: controller.signal,
      ...(outgoing.body === undefined ? {} : { body: outgoing.body })
    })
  } finally {
    clearTimeout(timer)
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/**
 * Returns the response of a successful request. Retries when the service says that a retry may succeed, or when no response arrived and
 * the request is repeatable. Throws `TollgateError`, `TollgateConnectionError`, or the reason of an aborted signal.
 */
export const send = async (connection: Connection, outgoing: OutgoingRequest): Promise<Response> => {
  for (let attempt = 0; ; attempt++) {
    let response: Response | undefined
    let failure: Error
    try {
      response = await fetchOnce(connection, outgoing)
      if (response.ok) return response
      const retryable = isRetryable(headOf(response))
      failure = new TollgateError(response.status, response.headers, parsed(await response.text()), retryable)
      if (!retryable) throw failure
    } catch (error) {
      if (error instanceof TollgateError || outgoing.signal?.aborted === true) throw error
      failure = new TollgateConnectionError(`${outgoing.method} ${outgoing.path}: ${String(error)}`, error)
      if (!outgoing.repeatable) throw failure
    }
    const wait = waitOf(response && headOf(response), attempt)
    if (attempt >= connection.maxRetries || wait === undefined) throw failure
    await sleep(wait, outgoing.signal)
  }
}
