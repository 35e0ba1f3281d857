/** Sends one request, and sends it again where that can succeed. */
import { TollgateConnectionError, TollgateError } from "./Errors.ts"
import { type ResponseHead, isPassing, waitOf } from "./Retry.ts"

/** How a client reaches the service. */
export interface Connection {
  /** The origin of the service. */
  readonly origin: string
  readonly apiKey: string | undefined
  readonly fetch: typeof fetch
  /** How often a request is sent again at most. */
  readonly maxRetries: number
  /** For the head of an answer, in milliseconds. */
  readonly timeoutMs: number
}

export interface OutgoingRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: BodyInit | undefined
  /** Whether sending it twice does no more than sending it once. */
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

/** Fetches with a limit on the time until the head; the body may take longer. */
const fetchOnce = async (connection: Connection, outgoing: OutgoingRequest): Promise<Response> => {
  const controller = new AbortController()
  const { signal } = outgoing
  const abort = () => controller.abort(signal?.reason)
  if (signal?.aborted === true) abort()
  // The body of a stream is aborted by it as well, so the listener stays.
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
 * The answer of a success. Sends a request again where the service says that this can help, or where no answer came and the request
 * is repeatable. Throws `TollgateError`, `TollgateConnectionError`, or the reason of an aborted signal.
 */
export const send = async (connection: Connection, outgoing: OutgoingRequest): Promise<Response> => {
  for (let attempt = 0; ; attempt++) {
    let response: Response | undefined
    let failure: Error
    try {
      response = await fetchOnce(connection, outgoing)
      if (response.ok) return response
      const passing = isPassing(headOf(response))
      failure = new TollgateError(response.status, response.headers, parsed(await response.text()), passing)
      if (!passing) throw failure
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
