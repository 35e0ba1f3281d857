/** One log line for each request: what was asked, how it ended, what it used and what it cost. */
import { Effect, LogLevel, Tracer } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { type Nano, usdFromNano } from "../domain/Money.ts"
import type { Settled, Watch } from "../inference/Request.ts"
import { Config } from "../platform/Config.ts"
import type { Span } from "../platform/Tracing.ts"

/** What a line says, by the names that it has in JSON. What is not known of a request is left out. */
export interface AccessFacts {
  readonly method: string
  /** The path of the operation with names in place of ids; absent where the request met no operation. */
  readonly route: string | undefined
  /** Absent where the connection closed before there was a response. */
  readonly status: number | undefined
  readonly model: string | undefined
  readonly provider: string | undefined
  readonly tokens_in: number | undefined
  readonly tokens_out: number | undefined
  readonly cost_usd: number | undefined
  /** From the arrival of the request to the end of its response, and of a paid one to its settlement. */
  readonly ms: number
  readonly request_id: string | undefined
  readonly client_left: true | undefined
  /** The code of the error that answered it. */
  readonly error: string | undefined
  /** Why, in words of the gateway alone: it quotes neither the request nor what a provider said. */
  readonly reason: string | undefined
}

/** The error of a response in the words of a log line. */
export interface LoggedError {
  readonly code: string
  readonly reason: string
}

/**
 * The line of one request while it is under way. It is written once, when the response has ended and the hold, if there is one, is
 * closed: a client that leaves ends its response before the charge is known.
 */
export class AccessLine implements Watch {
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
  #tokens: Settled["tokens"]
  #cost: Nano | undefined
  #error: LoggedError | undefined

  constructor(method: string, span: Span | undefined, write: (facts: AccessFacts, span: Span | undefined) => void) {
    this.#method = method
    this.#span = span
    this.#write = write
  }

  /** Notes the error that answers the request, or that breaks its stream. */
  failed(error: LoggedError): void {
    this.#error = error
  }

  planned(model: string): void {
    this.#model ??= model
  }

  opened(): void {
    this.#open++
  }

  /** Several holds of one request, as those of a batch, add up. */
  settled({ cost, model, provider, tokens }: Settled): void {
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

  /** Notes the end of the response; `status` is 0 where it had none. */
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
      // A response that the gateway cut after a failure was not left by its client.
      client_left: whole || this.#error !== undefined ? undefined : true,
      error: this.#error?.code,
      reason: this.#error?.reason
    }
    this.#left = undefined
    this.#write(facts, this.#span)
  }
}

const lines = new WeakMap<object, AccessLine>()

/** The line of a request as Node has it; undefined where no access log is written. */
export const lineOf = (request: object): AccessLine | undefined => lines.get(request)

/** The line for a reader, in the order in which one asks. */
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

/** Begins the line of a request that has arrived. */
export type BeginLine = (request: IncomingMessage, method: string, span: Span | undefined) => AccessLine

/** Follows the response to its end: a stream's line is written when the stream ends. */
export const endLine = (line: AccessLine, response: ServerResponse): void =>
  line.left(response.headersSent ? response.statusCode : 0, response.writableFinished)

/** The access log; undefined below the level `info`, where it then costs nothing. */
export const makeAccessLog: Effect.Effect<BeginLine | undefined, never, Config> = Effect.gen(function* () {
  const { log } = yield* Config
  if (LogLevel.isGreaterThan(log.level, "Info")) return undefined
  const run = Effect.runForkWith(yield* Effect.context())
  const write = (facts: AccessFacts, span: Span | undefined): void => {
    const said =
      log.format === "pretty"
        ? Effect.logInfo(inOneLine(facts))
        : Effect.annotateLogs(
            Effect.logInfo(`${facts.method} ${facts.route ?? "(no such route)"} ${facts.status ?? "(no response)"}`),
            Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
          )
    run(span === undefined ? said : Effect.provideService(said, Tracer.ParentSpan, span.forLogs))
  }
  return (request, method, span) => {
    const line = new AccessLine(method, span, write)
    lines.set(request, line)
    return line
  }
})
