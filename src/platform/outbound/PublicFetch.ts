import { Context, Data, Effect, Layer, Option, Semaphore } from "effect"
import type { LookupAddress } from "node:dns"
import { Resolver } from "node:dns/promises"
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { callbackify } from "node:util"
import { Client, type buildConnector, type Dispatcher } from "undici"
import { codeOf } from "./OutboundCall.ts"
import { isLocalhost, isLoopbackAddress, isPublicAddress } from "./PublicAddress.ts"

/** A call to an address that a caller named. */
export interface PublicRequest {
  readonly method: "GET" | "POST"
  readonly url: string
  /** The only headers that are sent, apart from the length of a body. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  /** How long the whole call may take, from resolving the host to the last byte, in milliseconds. */
  readonly totalMs: number
  /** The largest response body, in bytes. */
  readonly maxBytes: number
  /** Called before this many more bytes of the response are kept. Returning false ends the call with `TooLarge`. */
  readonly accept?: ((bytes: number) => boolean) | undefined
  /**
   * Whether any status is a success, of which only the start of the body is needed. What exceeds `maxBytes` or arrives late is not
   * read.
   */
  readonly anyStatus?: boolean | undefined
}

/** A complete response with a success status. With `anyStatus`, the start of any response. */
export interface PublicResponse {
  readonly status: number
  readonly body: Uint8Array
  /** The `Retry-After` header as received; only with `anyStatus`. */
  readonly retryAfter?: string
}

export type PublicFetchReason =
  /** The URL, or the address of its name, is forbidden. Nothing was sent. `why` is a reason for the caller. */
  | { readonly _tag: "Forbidden"; readonly why: string }
  /** No complete response arrived. `detail` is an error code. */
  | { readonly _tag: "Unreachable"; readonly detail: string }
  | { readonly _tag: "TimedOut" }
  | { readonly _tag: "TooLarge"; readonly limitBytes: number }
  /** The response has another status. Redirects are among these. */
  | { readonly _tag: "Status"; readonly status: number }
  /** The maximum number of calls is running. */
  | { readonly _tag: "Busy" }

/** Statuses of a host that is down or overloaded. The same call may succeed soon. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** Whether a host that answers with this status may soon answer otherwise. */
export const isTransientStatus = (status: number): boolean => TRANSIENT.has(status)

/** A call without a success response. The error never contains an address. */
export class PublicFetchError extends Data.TaggedError("PublicFetchError")<{ readonly reason: PublicFetchReason }> {}

/** Resolves a name to IP addresses. Fails when it has none. */
export type Resolve = (hostname: string, signal: AbortSignal) => Promise<ReadonlyArray<string>>

export interface PublicFetchOptions {
  /** Whether http and https to this machine are allowed as well. No other private address ever is. */
  readonly allowLoopback: boolean
  /** The maximum number of simultaneous calls; 256 when absent. */
  readonly connections?: number | undefined
  /** Whether a call waits, within its time limit, while the maximum number of calls is running. Otherwise it fails at once. */
  readonly waits?: boolean | undefined
  /** Absent: queries the DNS servers of this machine. */
  readonly resolve?: Resolve | undefined
  /** CA certificates in PEM format, which replace those that Node trusts. */
  readonly ca?: string | undefined
}

/** The options with defaults applied. */
interface Guard extends Pick<PublicFetchOptions, "allowLoopback" | "ca"> {
  readonly resolve: Resolve
}

/**
 * HTTP calls to addresses that callers name: over https to public addresses, on any port. The lookup that provides the connection's address
 * checks every address of the name, anew for each call. So a name cannot lead to another address than the checked one (DNS rebinding).
 * Each call has a connection of its own. There are no redirects, proxies, cookies, credentials, decompression or retries, and no call
 * reveals anything of the environment. Interrupting a call drops its connection at once.
 */
export class PublicFetch extends Context.Service<
  PublicFetch,
  {
    /** Why the text of a URL is forbidden. Undefined for an allowed URL, and for one with a name that is still to be resolved. */
    readonly refuses: (url: string) => string | undefined
    /**
     * Why a URL is forbidden, by its text and by the current addresses of its name. A name that cannot be resolved now is not
     * forbidden, because every call checks it again.
     */
    readonly judge: (url: string) => Effect.Effect<string | undefined>
    readonly fetch: (request: PublicRequest) => Effect.Effect<PublicResponse, PublicFetchError>
  }
>()("tollgate/platform/PublicFetch") {
  static readonly layerFrom = (options: PublicFetchOptions) =>
    Layer.effect(
      PublicFetch,
      Effect.map(Semaphore.make(options.connections ?? 256), (slots) => {
        const { allowLoopback, ca, resolve = resolveName, waits = false } = options
        return PublicFetch.of({
          refuses: (url) => refusalOf(url, allowLoopback),
          judge: (url) => judgeUrl(url, { allowLoopback, ca, resolve }),
          fetch: (request) =>
            Effect.suspend(() => {
              const why = refusalOf(request.url, allowLoopback)
              if (why !== undefined) return Effect.fail(forbidden(why))
              const call = Effect.callback<PublicResponse, PublicFetchError>((resume) => {
                const exchange = new Exchange(request, { allowLoopback, ca, resolve }, resume)
                exchange.start()
                return Effect.sync(() => exchange.drop())
              })
              const answered = waits
                ? Effect.timeoutOption(slots.withPermit(call), request.totalMs)
                : slots.withPermitsIfAvailable(1)(call)
              return Effect.flatMap(
                answered,
                Option.match({
                  onNone: () => Effect.fail(waits ? TIMED_OUT : BUSY),
                  onSome: (answer) => Effect.succeed(answer)
                })
              )
            })
        })
      })
    )
}

/** No legitimate URL is longer. */
const MAX_URL_LENGTH = 8_192

/** The maximum size of response headers, in bytes. */
const MAX_HEADER_BYTES = 16_384

/** How long to wait for a DNS server, in milliseconds, and how often to query it. */
const NAME_SERVER = { timeout: 2_000, tries: 2 }

const NOT_PUBLIC = "must be at a public address"

const failed = (reason: PublicFetchReason) => new PublicFetchError({ reason })
const forbidden = (why: string) => failed({ _tag: "Forbidden", why })
const BUSY = failed({ _tag: "Busy" })
const TIMED_OUT = failed({ _tag: "TimedOut" })

/** The host as an IP address is written. The URL parser has already normalised every notation of an address. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1")

const refusalOf = (text: string, allowLoopback: boolean): string | undefined => {
  if (text.length > MAX_URL_LENGTH)
    return `must have at most ${MAX_URL_LENGTH.toLocaleString("en-US")} characters; got ${text.length.toLocaleString("en-US")}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return "must be an https URL"
  const host = hostOf(url)
  const local = allowLoopback && (isLocalhost(host) || isLoopbackAddress(host))
  if (url.protocol !== "https:" && !(local && url.protocol === "http:")) return "must be an https URL"
  if (url.username !== "" || url.password !== "") return "must have no user name or password"
  if (local) return undefined
  return isLocalhost(host) || (isIP(host) !== 0 && !isPublicAddress(host)) ? NOT_PUBLIC : undefined
}

/** How long the caller waits for the name to be resolved. */
const JUDGING = "2 seconds"

const judgeUrl = (text: string, guard: Guard): Effect.Effect<string | undefined> =>
  Effect.suspend(() => {
    const why = refusalOf(text, guard.allowLoopback)
    if (why !== undefined) return Effect.succeed(why)
    const url = new URL(text)
    if (isIP(hostOf(url)) !== 0) return Effect.undefined
    return Effect.tryPromise((signal) => guard.resolve(hostOf(url), signal)).pipe(
      Effect.timeout(JUDGING),
      Effect.orElseSucceed((): ReadonlyArray<string> => []),
      Effect.map((addresses) => (addresses.every((address) => allows(guard, url, address)) ? undefined : NOT_PUBLIC))
    )
  })

/** Only a URL that openly names this machine may lead to it. */
const allows = (guard: Guard, url: URL, address: string): boolean =>
  (guard.allowLoopback && isLoopbackAddress(address)) || (url.protocol === "https:" && isPublicAddress(address))

/**
 * Queries the DNS servers without the system's resolver. The system's resolver blocks one of the process's few threads for as long as a
 * DNS server of the caller's choice likes, reads the hosts file of this machine and completes short names with its own domains.
 */
const resolveName: Resolve = async (hostname, signal) => {
  if (isLocalhost(hostname)) return ["127.0.0.1", "::1"]
  const resolver = new Resolver(NAME_SERVER)
  signal.addEventListener("abort", () => resolver.cancel(), { once: true })
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []))
}

const withCode = (code: string): Error => Object.assign(new Error(code), { code })

/** One call, on a client of its own. undici calls its handlers from inside its parser, so the outcome is delivered in a microtask. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: PublicRequest
  readonly #guard: Guard
  readonly #resume: (effect: Effect.Effect<PublicResponse, PublicFetchError>) => void
  readonly #url: URL
  readonly #looking = new AbortController()
  #client: Client | undefined
  #socket: Socket | undefined
  #timer: NodeJS.Timeout | undefined
  #over = false
  #status = 0
  #retryAfter: string | undefined
  #chunks: Array<Uint8Array> = []
  #length = 0

  constructor(
    request: PublicRequest,
    guard: Guard,
    resume: (effect: Effect.Effect<PublicResponse, PublicFetchError>) => void
  ) {
    this.#request = request
    this.#guard = guard
    this.#resume = resume
    this.#url = new URL(request.url)
  }

  start(): void {
    const { body = null, headers, method, totalMs } = this.#request
    this.#timer = setTimeout(() => this.#fail({ _tag: "TimedOut" }), totalMs)
    this.#client = new Client(this.#url.origin, {
      allowH2: false,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: (target, callback) => this.#connect(target, callback)
    })
    const path = this.#url.pathname + this.#url.search
    const sentHeaders = { ...headers, "accept-encoding": "identity" }
    this.#client.dispatch({ method, path, headers: sentHeaders, body, reset: true }, this)
  }

  /** Ends the call without an outcome, because its caller is gone. */
  drop(): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#timer)
    this.#looking.abort()
    queueMicrotask(() => {
      this.#socket?.destroy()
      void this.#client?.destroy()
    })
  }

  #end(effect: Effect.Effect<PublicResponse, PublicFetchError>): void {
    if (this.#over) return
    this.drop()
    queueMicrotask(() => this.#resume(effect))
  }

  #fail(reason: PublicFetchReason): void {
    // A caller that accepts any status already has its answer.
    if (this.#request.anyStatus === true && this.#status !== 0) return this.#succeed()
    this.#end(Effect.fail(failed(reason)))
  }

  #succeed(): void {
    const answer = { status: this.#status, body: Buffer.concat(this.#chunks) }
    this.#end(Effect.succeed(this.#retryAfter === undefined ? answer : { ...answer, retryAfter: this.#retryAfter }))
  }

  /** An address in the URL is not resolved, so it is checked here. */
  #connect({ port, protocol }: buildConnector.Options, callback: buildConnector.Callback): void {
    const host = hostOf(this.#url)
    const literal = isIP(host) !== 0
    if (this.#over) return callback(withCode("ERR_DROPPED"), null)
    if (literal && !allows(this.#guard, this.#url, host)) return this.#fail({ _tag: "Forbidden", why: NOT_PUBLIC })
    const secure = protocol === "https:"
    const target = { host, port: Number(port) || (secure ? 443 : 80), lookup: this.#lookup, autoSelectFamily: true }
    const socket = secure
      ? connectTls({
          ...target,
          // Explicit, so that no environment variable turns this off.
          rejectUnauthorized: true,
          ca: this.#guard.ca,
          ALPNProtocols: ["http/1.1"],
          ...(literal ? {} : { servername: host })
        })
      : connectTcp(target)
    this.#socket = socket
    let connected = false
    socket.setNoDelay(true)
    socket.once(secure ? "secureConnect" : "connect", () => {
      connected = true
      callback(null, socket)
    })
    socket.on("error", (error) => {
      if (!connected) callback(error, null)
    })
  }

  readonly #lookup: LookupFunction = (hostname, { all }, callback) =>
    callbackify(() => this.#found(hostname))((error, found) => {
      const [first] = found ?? []
      if (first === undefined) callback(withCode(codeOf(error)), "")
      else if (all === true) callback(null, [...found])
      else callback(null, first.address, first.family)
    })

  async #found(hostname: string): Promise<ReadonlyArray<LookupAddress>> {
    const addresses = await this.#guard.resolve(hostname, this.#looking.signal)
    if (addresses.length === 0) throw withCode("ENOTFOUND")
    if (addresses.every((address) => allows(this.#guard, this.#url, address))) {
      return addresses.map((address) => ({ address, family: isIP(address) }))
    }
    this.#fail({ _tag: "Forbidden", why: NOT_PUBLIC })
    throw withCode("ERR_FORBIDDEN")
  }

  onRequestStart(): void {}

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    if (this.#over || status < 200) return
    this.#status = status
    if (this.#request.anyStatus === true) {
      const after = headers["retry-after"]
      if (typeof after === "string") this.#retryAfter = after
      return
    }
    if (status > 299) return this.#fail({ _tag: "Status", status })
    if (Number(headers["content-length"]) > this.#request.maxBytes) this.#tooLarge()
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return
    const { accept, anyStatus, maxBytes } = this.#request
    this.#length += chunk.length
    if (anyStatus === true) {
      this.#chunks.push(chunk.subarray(0, Math.max(0, chunk.length - Math.max(0, this.#length - maxBytes))))
      return this.#length >= maxBytes ? this.#succeed() : undefined
    }
    if (this.#length > maxBytes || accept?.(chunk.length) === false) return this.#tooLarge()
    this.#chunks.push(chunk)
  }

  onResponseEnd(): void {
    this.#succeed()
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.#fail({ _tag: "Unreachable", detail: codeOf(error) })
  }

  #tooLarge(): void {
    this.#fail({ _tag: "TooLarge", limitBytes: this.#request.maxBytes })
  }
}
