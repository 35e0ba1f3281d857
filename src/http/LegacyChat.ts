import { Effect, Layer, Result } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Caller, type Principal } from "../../schemas/Access.ts"
import { Api } from "../../schemas/Api.ts"
import { Auth } from "../auth/Auth.ts"
import { decodeLegacyChat } from "../dialects/legacy/LegacyDecode.ts"
import { encodeLegacyChat } from "../dialects/legacy/LegacyEncode.ts"
import type { Failure } from "../domain/Failure.ts"
import { CachedChat } from "../inference/CachedChat.ts"
import type { ChatRequest } from "../inference/Request.ts"
import { Config } from "../platform/Config.ts"
import { readTraceContext } from "../platform/Tracing.ts"
import { parseChain } from "../router/Chain.ts"
import { readJson } from "./Body.ts"
import { cacheWishOf } from "./CacheControl.ts"
import { answered, ignoredHeader, replayHeader, steeringOf } from "./Chat.ts"
import { Exchange } from "./Exchange.ts"
import { claimOf } from "./Idempotency.ts"
import { leanHandlers } from "./Lean.ts"

/** The scope of an idempotency key, however the address was written. */
const PATH = "/chat"

const decodeRequest = (
  { headers, method }: HttpServerRequest.HttpServerRequest,
  exchange: Exchange,
  principal: Principal,
  sandbox: boolean,
  body: unknown
): Result.Result<{ readonly chat: ChatRequest; readonly ignored: ReadonlyArray<string> }, Failure> =>
  Result.gen(function* () {
    const decoded = yield* decodeLegacyChat(body)
    const chat: ChatRequest = {
      requestId: exchange.requestId,
      operation: "chat",
      principal,
      model: decoded.named,
      chain: yield* parseChain(decoded.model, decoded.models),
      policy: decoded.policy,
      conversation: decoded.conversation,
      parameters: decoded.parameters,
      stream: false,
      budgetCents: decoded.budgetCents,
      claim: yield* claimOf(headers["idempotency-key"], method, PATH, body),
      steering: yield* steeringOf(headers["x-svc-sandbox"], sandbox),
      trace: { span: exchange.span, from: readTraceContext(headers["traceparent"], headers["tracestate"]) },
      arrivedAt: exchange.arrivedAt
    }
    return { chat, ignored: decoded.ignored }
  })

const legacyChat = Effect.gen(function* () {
  const auth = yield* Auth
  const chat = yield* CachedChat
  const { sandbox } = yield* Config
  return Effect.fnUntraced(function* ({ request }: { readonly request: HttpServerRequest.HttpServerRequest }) {
    const exchange = yield* Exchange
    const principal = yield* Caller
    const wish = yield* Effect.fromResult(cacheWishOf(request.headers))
    const body = yield* readJson(request)
    const { chat: asked, ignored } = yield* Effect.fromResult(
      decodeRequest(request, exchange, principal, sandbox, body)
    )
    const check = Effect.tapError(auth.authenticate(request.headers["authorization"], "inference"), ({ reason }) =>
      Effect.sync(() => {
        if (reason._tag === "InvalidApiKey") auth.forget(principal.keyId)
      })
    )
    const { answer, replayed, status } = yield* chat.chat(asked, wish, check)
    exchange.span?.set({ "svc.cache": status })
    return HttpServerResponse.jsonUnsafe(encodeLegacyChat(answer, status === "HIT"), {
      headers: { "x-svc-cache-status": status, ...ignoredHeader(ignored), ...replayHeader(replayed) }
    })
  })
})

/** `POST /chat`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const chat = yield* legacyChat
    return leanHandlers(
      HttpApiBuilder.group(Api, "legacy", (handlers) => handlers.handleRaw("chat", (input) => answered(chat(input))))
    )
  })
)
