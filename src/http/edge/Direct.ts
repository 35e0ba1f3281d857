/** Serves `POST /chat/completions` directly from Node's server. */
import { Cause, Context, Effect, Exit, Fiber } from "effect"
import { HttpServerError, type HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Principal } from "../../../schemas/Access.ts"
import { Api } from "../../../schemas/Api.ts"
import { Auth } from "../../auth/Auth.ts"
import { Roster } from "../../platform/Roster.ts"
import { makeAdmit, named } from "./Access.ts"
import type { Arrived } from "./Body.ts"
import { NodeBodyBudget } from "./BodyBudget.ts"
import { completions } from "../handlers/Chat.ts"
import { askedOf, makeEdge } from "./Edge.ts"
import { WrittenBody } from "./EventStream.ts"
import { type Direct, leanContext } from "./Lean.ts"

/** Longer bodies take the platform's path, which also handles bodies that are not read to their end. */
const MOST_BODY_BYTES = 262_144

const { chatCompletions: endpoint } = Api.groups.chat.endpoints
const { method, path: url } = endpoint
const asked = askedOf({ method, url })

/** Node's request, if it is an ordinary one for this operation. */
const arrivedOf = (request: IncomingMessage): Arrived | undefined => {
  if (request.url !== url || request.method !== method || request.httpVersionMajor !== 1) return undefined
  const headers = request.headers as Arrived["headers"]
  const { expect, host } = headers
  const plain = Number(headers["content-length"]) <= MOST_BODY_BYTES && expect === undefined && host !== undefined
  return plain ? { headers, method, source: request } : undefined
}

type Headers = Readonly<Record<string, string>>

const write = (
  response: ServerResponse,
  { body, headers, status }: HttpServerResponse.HttpServerResponse,
  more: Headers
): void => {
  if (response.destroyed) return
  response.writeHead(status, { ...headers, ...more })
  response.end(body._tag === "Uint8Array" ? (body.text ?? body.body) : undefined)
  // An unread body would block the next request of the connection.
  if (!response.req.complete) response.req.resume()
}

const send = (
  response: ServerResponse,
  answer: HttpServerResponse.HttpServerResponse,
  more: Headers
): Effect.Effect<void> => {
  const { body, headers, status } = answer
  return body._tag === "Raw" && body.body instanceof WrittenBody
    ? body.body.writeTo(response, status, { ...headers, ...more })
    : Effect.sync(() => write(response, answer, more))
}

/** A response that has started cannot report an error any more. */
const giveUp = (response: ServerResponse, cause: Cause.Cause<unknown>): void => {
  if (response.headersSent) response.destroy()
  else response.writeHead(Cause.hasInterruptsOnly(cause) ? 503 : 500).end()
}

/**
 * The platform's path to an operation is general: it finds a route, decodes what the contract lists, checks credentials as middleware
 * and creates a context for each step. Together, that took a fifth of a request's CPU time. So the operation with the most requests is
 * served by the same functions without that, when the key is cached and the request is an ordinary one. Everything else takes the
 * platform's path. Requests are interrupted when their client disconnects, and the remaining ones when the scope closes.
 */
export const makeDirect = Effect.gen(function* () {
  const auth = yield* Auth
  const admit = yield* makeAdmit
  const edge = yield* makeEdge
  const serve = yield* completions
  const fibers = new Roster<Fiber.Fiber<void, unknown>>()
  let isClosed = false
  yield* Effect.addFinalizer(() => {
    isClosed = true
    return Fiber.interruptAll(fibers.members)
  })
  const context = leanContext(yield* Effect.context())
  const budget = Context.get(context, NodeBodyBudget)
  const run = Effect.runForkWith(context)

  const work = (request: Arrived, principal: Principal, node: IncomingMessage, response: ServerResponse) => {
    const { headers, source } = request
    const exchange = edge.begin({ headers, source, peer: () => node.socket.remoteAddress })
    named(exchange, endpoint)
    const finished = (answer: HttpServerResponse.HttpServerResponse) =>
      Effect.flatMapEager(edge.dress(asked, exchange, answer.status), (more) => send(response, answer, more))
    const served = Effect.flatMapEager(admit(exchange, principal, endpoint), () =>
      serve({ exchange, principal, request })
    )
    return Effect.uninterruptible(
      Effect.matchCauseEffect(Effect.interruptible(served), {
        onSuccess: finished,
        onFailure: (cause) => {
          const answer = edge.answer(asked, exchange, cause)
          if (answer !== undefined) return Effect.flatMap(answer, finished)
          // The client is still connected, so the service is stopping.
          return response.destroyed ? Effect.failCause(cause) : finished(edge.cutOff(exchange))
        }
      })
    )
  }

  const direct: Direct = (node, response) => {
    const request = isClosed ? undefined : arrivedOf(node)
    if (request === undefined || !budget.has(Number(request.headers["content-length"]))) return false
    const principal = auth.remembered(request.headers["authorization"], "inference", node.socket)
    if (principal === undefined) return false
    const fiber = run(work(request, principal, node, response))
    const place = fibers.join(fiber)
    fiber.addObserver((exit) => {
      fibers.leave(place)
      if (Exit.isFailure(exit) && !response.destroyed) giveUp(response, exit.cause)
    })
    response.on("close", () => {
      if (!response.writableEnded) fiber.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation)
    })
    return true
  }
  return direct
})
