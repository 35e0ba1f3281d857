import { Effect, Layer, Result, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Caller, type Principal } from "../../schemas/Access.ts"
import { Api } from "../../schemas/Api.ts"
import { decodeChat, type DecodedChat } from "../dialects/chat/ChatDecode.ts"
import { encodeCompletion } from "../dialects/chat/ChatEncode.ts"
import { ChatStreamEncoder } from "../dialects/chat/ChatStream.ts"
import { decodeEstimate, encodeEstimate } from "../dialects/Estimate.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import { Inference } from "../inference/Inference.ts"
import type { ChatRequest } from "../inference/Request.ts"
import type { StreamItem } from "../inference/StreamFlow.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { Config } from "../platform/Config.ts"
import { readTraceContext } from "../platform/Tracing.ts"
import { parseSteering } from "../providers/sandbox/Steering.ts"
import { parseChain } from "../router/Chain.ts"
import { readJson } from "./Body.ts"
import { Exchange } from "./Exchange.ts"
import { describe, logged, respond } from "./Failures.ts"
import { leanHandlers } from "./Lean.ts"
import { claimOf } from "./Idempotency.ts"

/** The scope of an idempotency key, however the address was written. */
const PATH = "/chat/completions"

/** Names of ignored members that a header lists at most. */
const IGNORED_MAX = 32

/** A member's name may be any string, half a surrogate pair included, which has no encoding. */
const encoded = (name: string): string => encodeURIComponent(name.toWellFormed())

/** Names the members without effect. */
export const ignoredHeader = (names: ReadonlyArray<string>): Record<string, string> =>
  names.length === 0
    ? {}
    : { "x-svc-ignored-parameters": names.slice(0, IGNORED_MAX).map(encoded).join(", ").slice(0, 2_048) }

const streamHeaders = { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" }

/** The steering of the sandbox's double; outside a sandbox the header means nothing. */
export const steeringOf = (header: string | undefined, sandbox: boolean): Result.Result<string | undefined, Failure> =>
  header === undefined || !sandbox
    ? Result.succeed(undefined)
    : Result.mapBoth(parseSteering(header), {
        onFailure: (problems) => failure({ _tag: "ValidationError", problems }),
        onSuccess: () => header
      })

const decodeRequest = (
  request: HttpServerRequest.HttpServerRequest,
  exchange: Exchange,
  principal: Principal,
  sandbox: boolean,
  body: unknown
): Result.Result<{ readonly chat: ChatRequest; readonly decoded: DecodedChat }, Failure> => {
  const decoding = decodeChat(body)
  if (Result.isFailure(decoding)) return Result.fail(decoding.failure)
  const decoded = decoding.success
  const chain = parseChain(decoded.model, decoded.models)
  if (Result.isFailure(chain)) return Result.fail(chain.failure)
  const claim = claimOf(request.headers["idempotency-key"], request.method, PATH, body)
  if (Result.isFailure(claim)) return Result.fail(claim.failure)
  const steering = steeringOf(request.headers["x-svc-sandbox"], sandbox)
  if (Result.isFailure(steering)) return Result.fail(steering.failure)
  const chat: ChatRequest = {
    requestId: exchange.requestId,
    operation: "chat.completions",
    principal,
    model: decoded.model ?? chain.success.join(","),
    chain: chain.success,
    policy: decoded.policy,
    auto: decoded.auto,
    conversation: decoded.conversation,
    parameters: decoded.parameters,
    stream: decoded.stream,
    budgetCents: decoded.budgetCents,
    claim: claim.success,
    steering: steering.success,
    trace: {
      span: exchange.span,
      from: readTraceContext(request.headers["traceparent"], request.headers["tracestate"])
    },
    arrivedAt: exchange.arrivedAt
  }
  return Result.succeed({ chat, decoded })
}

/** Says of an answer that it was given before. */
export const replayHeader = (replayed: boolean): Record<string, string> =>
  replayed ? { "idempotency-replayed": "true" } : {}

const completions = Effect.gen(function* () {
  const inference = yield* Inference
  const { sandbox } = yield* Config
  const run = Effect.runForkWith(yield* Effect.context())
  return Effect.fnUntraced(function* ({ request }: { readonly request: HttpServerRequest.HttpServerRequest }) {
    const exchange = yield* Exchange
    const principal = yield* Caller
    const body = yield* readJson(request)
    const { chat, decoded } = yield* Effect.fromResult(decodeRequest(request, exchange, principal, sandbox, body))
    const ignored = ignoredHeader(decoded.ignored)
    if (!decoded.stream) {
      const { answer, replayed } = yield* inference.chat(chat)
      return HttpServerResponse.jsonUnsafe(encodeCompletion(answer), {
        headers: { ...ignored, ...replayHeader(replayed) }
      })
    }
    const stream = yield* inference.chatStream(chat)
    const encoder = new ChatStreamEncoder({
      requestId: stream.requestId,
      created: stream.created,
      model: chat.model,
      includeUsage: decoded.includeUsage,
      describe
    })
    const frameOf = (item: StreamItem): string => {
      // The last item at most, so that encoding the others stays a plain function.
      if (item._tag === "Error") run(logged(item.failure, exchange))
      return encoder.encode(item)
    }
    const frames = Stream.mapArray(stream.items, (items) => [
      Buffer.from(items.map((item) => frameOf(item)).join(""), "utf8")
    ])
    return HttpServerResponse.stream(frames, {
      contentType: "text/event-stream",
      headers: { ...streamHeaders, ...ignored, ...replayHeader(stream.replayed) }
    })
  })
})

const estimates = Effect.gen(function* () {
  const inference = yield* Inference
  const ledger = yield* Ledger
  return Effect.fnUntraced(function* ({ request }: { readonly request: HttpServerRequest.HttpServerRequest }) {
    const { accountId } = yield* Caller
    const body = yield* readJson(request)
    const { model, preparation } = yield* Effect.fromResult(decodeEstimate(body))
    const prepared = yield* Effect.fromResult(inference.prepare({ ...preparation, accountId }))
    const balance = yield* ledger
      .balance(accountId)
      .pipe(Effect.mapError((error) => failure({ _tag: "StoreUnavailable" }, error)))
    return HttpServerResponse.jsonUnsafe(encodeEstimate(model, prepared, balance ?? { posted: 0n, held: 0n }))
  })
})

/** Answers a failure in the form of its operation, and logs what is for operators. */
export const answered = <R>(
  handled: Effect.Effect<HttpServerResponse.HttpServerResponse, Failure, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
  Effect.catch(handled, (error) =>
    Effect.flatMap(Exchange, (exchange) => Effect.as(logged(error, exchange), respond(error, exchange)))
  )

/** `POST /chat/completions` and `POST /estimate`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const chatCompletions = yield* completions
    const estimate = yield* estimates
    return leanHandlers(
      HttpApiBuilder.group(Api, "chat", (handlers) =>
        handlers
          .handleRaw("chatCompletions", (input) => answered(chatCompletions(input)))
          .handleRaw("estimate", (input) => answered(estimate(input)))
      )
    )
  })
)
