/** The checks in front of the MCP server at `/mcp`: same site, credential, limits and sessions. Refusals are JSON-RPC errors. */
import { Context, Effect, identity, Layer, Result } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Caller, type Principal } from "../../schemas/Access.ts"
import { Auth } from "../auth/Auth.ts"
import { objectOf } from "../dialects/Decode.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import { PublicUrl } from "../platform/outbound/PublicUrl.ts"
import { type Credential, eitherOf, makeAuthenticated, makeCounter, labelRequest } from "../http/edge/Access.ts"
import { readJsonText } from "../http/edge/Body.ts"
import { makeRefuse } from "../http/edge/Edge.ts"
import { Exchange } from "../http/edge/Exchange.ts"
import { bodyOf, headersOf, logFailure, markFailedResponse, respond, rpcErrorOf } from "../http/Failures.ts"
import { withKeepAlive } from "../http/edge/KeepAlive.ts"
import { McpEndpoint, type OTHER_METHODS } from "../http/edge/Mcp.ts"
import { MCP_PATH } from "../http/edge/KnownPaths.ts"
import { isOwnHost, isOwnOrigin } from "./Hosts.ts"
import { type McpCall, PresentCall } from "./McpCall.ts"
import { failureOfRpc, type RpcError, rpcErrorIn } from "./RpcErrors.ts"
import { McpSessions, DEFAULT_REVISION } from "./Sessions.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Answers a request that passed the checks. */
type Handler = (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<Response, unknown, unknown>

/** The MCP server behind the checks of this file. */
export interface ServerHandlers {
  readonly post: Handler
  readonly end: Handler
  /** The revisions with sessions. */
  readonly revisions: ReadonlySet<string>
  /** Whether a call of this tool is paid for, so that its hold checks the key; undefined when there is no such tool. */
  readonly isPaid: (tool: string) => boolean | undefined
}

/** Takes the handlers that the layer of a server adds to its router. */
export const handlersOf = <E, R>(server: Layer.Layer<never, E, R | HttpRouter.HttpRouter>) =>
  Effect.gen(function* () {
    const handlers = new Map<string, Handler>()
    const add = (method: string, _: string, handler: unknown) =>
      Effect.sync(() => void handlers.set(method, handler as Handler))
    const router = { add } as unknown as HttpRouter.HttpRouter
    yield* Layer.build(Layer.provide(server, Layer.succeed(HttpRouter.HttpRouter, router)))
    return { post: handlers.get("POST")!, end: handlers.get("DELETE")! }
  })

const SESSION = "mcp-session-id"
const REVISION = "mcp-protocol-version"

const otherHost = failure({
  _tag: "CrossSiteRequest",
  header: "Host",
  detail: "`Host` must be an IP address, `localhost`, or the host of the gateway's `PUBLIC_URL`"
})
const otherOrigin = failure({
  _tag: "CrossSiteRequest",
  header: "Origin",
  detail: "`Origin` must be this gateway or the client's own machine; other web pages cannot use the MCP server"
})

/** The id of a JSON-RPC message, for the answer to it. */
const idOf = (message: unknown): string | number | null => {
  const id = objectOf(message)?.["id"]
  return typeof id === "string" || typeof id === "number" ? id : null
}

/** The tool that a message calls; undefined for any other message, and for several in one. */
const toolIn = (message: unknown): string | undefined => {
  const { method, params } = objectOf(message) ?? {}
  const name = method === "tools/call" ? objectOf(params)?.["name"] : undefined
  return typeof name === "string" ? name : undefined
}

/** The request with the text that was read as its body. */
const withText = (
  request: HttpServerRequest.HttpServerRequest,
  headers: Readonly<Record<string, string | undefined>>,
  text: string
): HttpServerRequest.HttpServerRequest => {
  const modified = request.modify({ headers: headers as HttpServerRequest.HttpServerRequest["headers"] })
  return Object.defineProperty(modified, "text", { value: Effect.succeed(text) })
}

/** Runs a handler of the server with this request instead of the one that arrived. */
const runHandler = (handler: Handler, request: HttpServerRequest.HttpServerRequest) =>
  Effect.provideService(handler(request), HttpServerRequest.HttpServerRequest, request) as Effect.Effect<Response>

/** The server's answer to a request of our own, with all the headers that it adds at the end. */
const answerTo = (handler: Handler, request: HttpServerRequest.HttpServerRequest): Effect.Effect<Response> => {
  let answer = HttpServerResponse.empty()
  const root = HttpEffect.toHandled(runHandler(handler, request), (_, response) =>
    Effect.sync(() => void (answer = response))
  )
  return Effect.map(Effect.provideService(root, HttpServerRequest.HttpServerRequest, request), () => answer)
}

const noSession: Failure = failure({
  _tag: "NotFound",
  what: "MCP session",
  id: "with this id; send initialize to open one"
})

/** Runs with the request that is being served. Requests to the server are made from it. */
const withRequest = <A>(made: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<A>): Effect.Effect<A> =>
  Effect.withFiber(({ context }) => made(Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)))

/** Opens and ends sessions in the server as its clients would. */
const innerSessions = ({ end, post }: ServerHandlers) => ({
  open: (revision: string) =>
    withRequest((request) => {
      const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "continued", version: "0" } }
      const text = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }
      return Effect.map(answerTo(post, withText(request, headers, text)), (answer) => answer.headers[SESSION])
    }),
  end: (inner: string) =>
    withRequest((request) => Effect.asVoid(answerTo(end, withText(request, { [SESSION]: inner }, ""))))
})

/** The most bytes of an answer in which the endpoint looks for an error. Results may be longer; the server's errors are not. */
const MAX_ERROR_BYTES = 16_384

/** The JSON-RPC error in an answer of the server, if it is one without the envelope. */
const errorIn = ({ body }: Response): RpcError | undefined => {
  if (body._tag !== "Uint8Array" || body.body.length > MAX_ERROR_BYTES) return undefined
  const text = new TextDecoder().decode(body.body)
  return text.startsWith("{") && text.includes('"error":') ? rpcErrorIn(text) : undefined
}

/** An answer of the server whose error, if it is one, contains the envelope. Some of the server's refusals have no body. */
const explained = (response: Response, exchange: Exchange, message: unknown): Response => {
  const { body, status } = response
  const id = idOf(message)
  const error = errorIn(response)
  if (error !== undefined) {
    const failed = failureOfRpc(error, message)
    markFailedResponse(failed, exchange)
    const headers = status < 400 ? {} : headersOf(failed)
    return HttpServerResponse.jsonUnsafe(rpcErrorOf(bodyOf(failed), id, error), {
      status,
      headers: { ...response.headers, ...headers }
    })
  }
  if (body._tag !== "Empty" || status < 400) return response
  switch (status) {
    case 404:
      return refusal(noSession, exchange, id)
    case 406:
      return refusal(failure({ _tag: "ValidationError", problems: [unacceptable] }), exchange, id)
    case 415:
      return refusal(failure({ _tag: "UnsupportedMediaType" }), exchange, id)
    default:
      return refusal(failure({ _tag: "ValidationError", problems: [malformed] }), exchange, id)
  }
}

const unacceptable = { field: "Accept", message: "must list application/json and text/event-stream" }
const malformed = { field: "body", message: "must be one message of the session's revision" }

/** Makes the answer to a message from a failure. */
const refusal = (failed: Failure, exchange: Exchange, id: string | number | null): Response => {
  const { headers, status } = respond(failed, exchange)
  return HttpServerResponse.jsonUnsafe(rpcErrorOf(bodyOf(failed), id), { status, headers })
}

/** Fails for a request that a web page may have sent through a rebound name or from another site. */
const sameSite = (
  { headers }: HttpServerRequest.HttpServerRequest,
  publicUrl: string
): Effect.Effect<void, Failure> => {
  const { host, origin } = headers
  if (!isOwnHost(host, publicUrl)) return Effect.fail(otherHost)
  return isOwnOrigin(origin, host, publicUrl) ? Effect.void : Effect.fail(otherOrigin)
}

/** The sender of a message. `read` means that the key was read for this request and does not come from the cache. */
interface Sender {
  readonly principal: Principal
  readonly read: boolean
}

/** Authenticates the sender of a request, and counts its message. */
const makeAdmission = ({ isPaid }: ServerHandlers) =>
  Effect.gen(function* () {
    const auth = yield* Auth
    const authenticated = yield* makeAuthenticated
    const { count } = yield* makeCounter
    const read = (exchange: Exchange, credential: Credential): Effect.Effect<Sender, Failure> =>
      Effect.map(authenticated(exchange, credential, "inference"), (principal) => ({ principal, read: true }))
    return {
      sender: (exchange: Exchange, credential: Credential): Effect.Effect<Sender, Failure> =>
        Effect.suspend(() => {
          const principal = auth.remembered(credential.authorization, "inference")
          return principal === undefined ? read(exchange, credential) : Effect.succeed({ principal, read: false })
        }),
      /**
       * The call of a tool counts against the limit of its operation when it runs, every other message against the default. The
       * hold of a paid tool checks the key again; for every other message a cached key is read now.
       */
      message: (
        exchange: Exchange,
        credential: Credential,
        sender: Sender,
        message: unknown
      ): Effect.Effect<Principal, Failure> =>
        Effect.suspend(() => {
          const tool = toolIn(message)
          const paid = tool === undefined ? undefined : isPaid(tool)
          const counted = paid === undefined ? count(exchange, sender.principal) : Effect.void
          const fresh = paid === true || sender.read ? Effect.succeed(sender) : read(exchange, credential)
          return Effect.andThen(
            counted,
            Effect.map(fresh, ({ principal }) => principal)
          )
        })
    }
  })

/** Answers in the session that a message belongs to, and keeps the session that it opens. */
const serving =
  (server: ServerHandlers, sessions: McpSessions) =>
  (call: McpCall, request: HttpServerRequest.HttpServerRequest, text: string): Effect.Effect<Response, Failure> =>
    Effect.withFiber(({ context }) => {
      const { keyId } = call.principal
      const { origin: _, [REVISION]: revision, ...headers } = request.headers
      const run = (more: Readonly<Record<string, string | undefined>>) =>
        runHandler(server.post, withText(request, { ...headers, ...more }, text)).pipe(
          Effect.provideService(PresentCall, call),
          Effect.provideService(Caller, call.principal)
        )
      const session = headers[SESSION]
      const revisionHeader = revision === undefined ? {} : { [REVISION]: revision }
      if (session !== undefined) {
        // A session has one revision, in which it also serves clients that name another one.
        const named = revision !== undefined && server.revisions.has(revision) ? {} : revisionHeader
        return sessions.within(keyId, session, revision ?? DEFAULT_REVISION, (inner) =>
          inner === undefined ? Effect.fail(noSession) : run({ ...named, [SESSION]: inner })
        )
      }
      return Effect.map(run(revisionHeader), (response) => {
        HttpEffect.appendPreResponseHandlerUnsafe(context, (_, last) => {
          const opened = last.headers[SESSION]
          return opened === undefined ? Effect.succeed(last) : Effect.as(sessions.opened(keyId, opened), last)
        })
        return response
      })
    })

/** Answers `POST /mcp` and `DELETE /mcp`, and refuses other methods. */
export const makeEndpoint = (server: ServerHandlers) =>
  Effect.gen(function* () {
    const publicUrl = yield* PublicUrl
    const refuse = yield* makeRefuse
    const admission = yield* makeAdmission(server)
    const sessions = new McpSessions(innerSessions(server))
    const serve = serving(server, sessions)

    /** Admits a request, or answers why not. */
    const admitted = (
      run: (
        sender: Sender,
        credential: Credential,
        exchange: Exchange
      ) => Effect.Effect<Response, Failure, HttpServerRequest.HttpServerRequest>
    ) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const exchange = yield* Exchange
        exchange.errors = "rpc"
        labelRequest(exchange, { method: request.method, path: MCP_PATH })
        const credential = eitherOf(request.headers)
        const refused = yield* Effect.result(sameSite(request, publicUrl.base()))
        if (Result.isFailure(refused)) return yield* refuse(exchange, refused.failure)
        return yield* Effect.flatMap(admission.sender(exchange, credential), (sender) =>
          run(sender, credential, exchange)
        ).pipe(Effect.catch((failed) => Effect.as(logFailure(failed, exchange), refusal(failed, exchange, null))))
      })

    const post = admitted((sender, credential, exchange) =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { text, value } = yield* readJsonText(request)
        const id = idOf(value)
        return yield* Effect.flatMap(admission.message(exchange, credential, sender, value), (principal) => {
          exchange.span?.set({ "svc.account_id": principal.accountId, "svc.key_id": principal.keyId })
          return serve({ principal, exchange, headers: request.headers }, request, text)
        }).pipe(
          Effect.map((response) => explained(response, exchange, value)),
          Effect.catch((failed) => Effect.as(logFailure(failed, exchange), refusal(failed, exchange, id))),
          toolIn(value) === undefined ? identity : withKeepAlive
        )
      })
    )

    const end = admitted(({ principal }, credential, exchange) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        yield* admission.message(exchange, credential, { principal, read: false }, undefined)
        const session = headers[SESSION]
        if (session === undefined) return yield* Effect.fail(noSession)
        yield* sessions.end(principal.keyId, session)
        return HttpServerResponse.empty({ status: 204 })
      })
    )

    const refused = (method: (typeof OTHER_METHODS)[number]) =>
      Effect.flatMap(Exchange, (exchange) => {
        exchange.errors = "rpc"
        return refuse(exchange, failure({ _tag: "MethodNotAllowed", method, allowed: ["POST", "DELETE"] }))
      })

    return McpEndpoint.of({ post, end, refused })
  })
