/** Writes one log line for each request: its operation, its result, what it used and what it cost. */
import { Effect, LogLevel, Tracer } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { type Nano, usdFromNano } from "../../domain/Money.ts"
import type { SettledWork, RequestObserver } from "../../inference/Request.ts"
import { Config } from "../../platform/config/Config.ts"
import type { Span } from "../../platform/telemetry/Tracing.ts"

/** The content of a line, by its JSON names. Unknown facts are omitted. */
export interface AccessFacts {
  readonly method: string
  /** The path of the operation with parameter names in place of ids. Undefined when no operation matched. */
  readonly route: string | undefined
  /** Undefined when the connection closed before a response. */
  readonly status: number | undefined
  readonly model: string | undefined
  readonly provider: string | undefined
  readonly tokens_in: number | undefined
  readonly tokens_out: number | undefined
  readonly cost_usd: number | undefined
  /** From the arrival of the request to the end of its response, or to the settlement of a paid request. */
  readonly ms: number
  readonly request_id: string | undefined
  readonly client_left: true | undefined
  /** The error code of the response. */
  readonly error: string | undefined
  /** The reason in the gateway's own words. It quotes neither the request nor a provider. */
  readonly reason: string | undefined
}

/** The error of a response, for a log line. */
export interface LoggedError {
  readonly code: string
  readonly reason: string
}

/**
 * The line of a running request. It is written once, when the response has ended and the hold, if there is one, is closed: a client
 * that disconnects ends its response before the charge is known.
 */
export class AccessLine implements RequestObserver {
  requestId: string | undefined
  route: string | undefined
  readonly #method: string
  readonly #arrivedAt = performance.now()
  readonly #span: Span | undefined
  readonly #write: (facts: AccessFacts, span: Span | undefined) => void
  #open = 0
  #left: { readonly status: number; readonly whole: boolean } | undefined
  #model: string | undefined
  #provider: string | undefined
  #tokens: SettledWork["tokens"]
  #cost: Nano | undefined
  #error: LoggedError | undefined

  constructor(method: string, span: Span | undefined, write: (facts: AccessFacts, span: Span | undefined) => void) {
    this.#method = method
    this.#span = span
    this.#write = write
  }

  /** Records the error that answers the request, or that breaks its stream. */
  failed(error: LoggedError): void {
    this.#error = error
  }

  planned(model: string): void {
    this.#model ??= model
  }

  opened(): void {
    this.#open++
  }

  /** Adds up the holds of one request, such as those of a batch. */
  settled({ cost, model, provider, tokens }: SettledWork): void {
    this.#model = model
    this.#provider = provider ?? this.#provider
    this.#cost = (this.#cost ?? 0n) + cost
    if (tokens === undefined) return
    const { input, output } = this.#tokens ?? { input: 0, output: 0 }
    this.#tokens = { input: input + tokens.input, output: output + tokens.output }
  }

  ended(): void {
    this.#open--
    this.#writeOnce()
  }

  /** Records the end of the response. `status` is 0 when there was none. */
  left(status: number, whole: boolean): void {
    this.#left = { status, whole }
    this.#writeOnce()
  }

  #writeOnce(): void {
    if (this.#left === undefined || this.#open > 0) return
    const { status, whole } = this.#left
    const facts: AccessFacts = {
      method: this.#method,
      route: this.route,
      status: status === 0 ? undefined : status,
      model: this.#model,
      provider: this.#provider,
      tokens_in: this.#tokens?.input,
      tokens_out: this.#tokens?.output,
      cost_usd: this.#cost === undefined ? undefined : usdFromNano(this.#cost),
      ms: Math.round(performance.now() - this.#arrivedAt),
      request_id: this.requestId,
      // When the gateway cut a response after a failure, the client did not leave.
      client_left: whole || this.#error !== undefined ? undefined : true,
      error: this.#error?.code,
      reason: this.#error?.reason
    }
    this.#left = undefined
    this.#write(facts, this.#span)
  }
}

const lines = new WeakMap<object, AccessLine>()

/** The line of a request, by Node's request object. Undefined when no access log is written. */
export const lineOf = (request: object): AccessLine | undefined => lines.get(request)

/** Formats a line for a human reader, with the most important facts first. */
export const inOneLine = (facts: AccessFacts): string =>
  [
    facts.method,
    facts.route ?? "(no such route)",
    facts.status ?? "(no response)",
    facts.model,
    facts.provider,
    facts.tokens_in === undefined ? undefined : `${facts.tokens_in}+${facts.tokens_out} tokens`,
    facts.cost_usd === undefined ? undefined : `$${facts.cost_usd}`,
    `${facts.ms} ms`,
    facts.request_id,
    facts.client_left && "(the client left)",
    facts.error && `${facts.error}: ${facts.reason}`
  ]
    .filter((part) => part !== undefined)
    .join(" ")

/** Starts the line of a request that has arrived. */
export type BeginLine = (request: IncomingMessage, method: string, span: Span | undefined) => AccessLine

/** Follows the response to its end. The line of a stream is written when the stream ends. */
export const endLine = (line: AccessLine, response: ServerResponse): void =>
  line.left(response.headersSent ? response.statusCode : 0, response.writableFinished)

/** The access log. Undefined when the log level is above `info`; then it costs nothing. */
export const makeAccessLog: Effect.Effect<BeginLine | undefined, never, Config> = Effect.gen(function* () {
  const { log } = yield* Config
  if (LogLevel.isGreaterThan(log.level, "Info")) return undefined
  const run = Effect.runForkWith(yield* Effect.context())
  const write = (facts: AccessFacts, span: Span | undefined): void => {
    const words =
      log.format === "pretty"
        ? Effect.logInfo(inOneLine(facts))
        : Effect.annotateLogs(
            Effect.logInfo(`${facts.method} ${facts.route ?? "(no such route)"} ${facts.status ?? "(no response)"}`),
            Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
          )
    run(span === undefined ? words : Effect.provideService(words, Tracer.ParentSpan, span.forLogs))
  }
  return (request, method, span) => {
    const line = new AccessLine(method, span, write)
    lines.set(request, line)
    return line
  }
})
