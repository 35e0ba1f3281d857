import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller } from "../../../schemas/Access.ts"
import { Auth } from "../../auth/Auth.ts"
import { modelFieldsOf } from "../../dialects/Decode.ts"
import { usageOf } from "../../dialects/chat/ChatEncode.ts"
import { type DecodedLegacyChat, decodeLegacyChat } from "../../dialects/legacy/LegacyDecode.ts"
import { encodeLegacyChat } from "../../dialects/legacy/LegacyEncode.ts"
import { chatNames } from "../../dialects/RefusedMember.ts"
import { basePolicy } from "../../dialects/Routing.ts"
import { type Failure, failure, storeFailure } from "../../domain/Failure.ts"
import type { Answer } from "../../domain/Answer.ts"
import { CachedChat } from "../../inference/CachedChat.ts"
import { ReasoningSeals } from "../../inference/ReasoningSeals.ts"
import type { ChatRequest } from "../../inference/Request.ts"
import { Config } from "../../platform/config/Config.ts"
import { Presets } from "../../presets/Presets.ts"
import { type Admission, Sessions } from "../../sessions/Sessions.ts"
import type { Turn } from "../../sessions/Turn.ts"
import { Requests } from "../../usage/Requests.ts"
import { readJson } from "../edge/Body.ts"
import { cacheOptionsOf, changedOptionsOf } from "./CacheControl.ts"
import { chatRequestOf, requestContextOf, ignoredHeader, withDialectNames, replayHeader } from "./ChatOperation.ts"
import { Exchange } from "../edge/Exchange.ts"
import { images } from "./Images.ts"
import { takePaidPreset } from "./Preset.ts"
import { fullFailure } from "./Sessions.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

type TurnMessages = DecodedLegacyChat["recordedMessages"]

/** The part of a request and its answer that a session records. */
const turnOf = (turn: { name: string; messages: TurnMessages; free: boolean }, answer: Answer): Turn => ({
  ...turn,
  answer: {
    content: answer.output.text,
    model: answer.resolvedModel,
    usage: usageOf(answer.usage),
    cost: answer.cost
  }
})

const legacyChat = Effect.gen(function* () {
  const auth = yield* Auth
  const chat = yield* CachedChat
  const presets = yield* Presets
  const seals = yield* ReasoningSeals
  const { sandbox } = yield* Config
  const sessions = yield* Sessions
  const requests = yield* Requests
  const inStore = Effect.mapError(storeFailure)
  /** Checks that the request's session has space, before money is spent. A replay needs no space, because it is not recorded. */
  const roomIn = Effect.fnUntraced(function* (name: string, { claim, principal }: ChatRequest, messages: TurnMessages) {
    const session = yield* inStore(sessions.findByName(principal.accountId, name))
    if (session === undefined) return yield* failure({ _tag: "NotFound", what: "session", id: name })
    const refused = Effect.fnUntraced(function* (failed: Failure) {
      const before = claim && (yield* inStore(requests.claimedBy(principal.accountId, claim.claim)))
      return before === undefined ? yield* failed : undefined
    })
    return yield* sessions.admit({ accountId: principal.accountId, session, messages }).pipe(
      Effect.catchTags({
        SessionsFull: (error) => refused(fullFailure(error, "session_id")),
        SessionsBusy: () => refused(failure({ _tag: "Overloaded" })),
        Unavailable: storeFailure
      })
    )
  })
  return Effect.fnUntraced(function* ({ request }: { readonly request: ApiRequest }) {
    const exchange = yield* Exchange
    const principal = yield* Caller
    const cacheOptions = yield* Effect.fromResult(cacheOptionsOf(request.headers))
    const body = yield* readJson(request)
    const repeatable = request.headers["idempotency-key"] !== undefined
    const found = yield* takePaidPreset(presets, exchange, {
      accountId: principal.accountId,
      sent: modelFieldsOf(body),
      repeatable
    })
    const read = decodeLegacyChat(body, found.preset?.config, basePolicy(principal), seals.openFor(principal.accountId))
    const decoded = Result.mapError(read, (failed) => found.missing ?? failed)
    const { ignored, recordedMessages, sessionId, ...chatFields } = yield* Effect.fromResult(decoded)
    const headerOptions = changedOptionsOf(cacheOptions)
    const received = { request, exchange, principal, body, operation: "chat", path: "/chat", sandbox, headerOptions }
    const requestContext = yield* Effect.fromResult(requestContextOf(received))
    const chatRequest = yield* Effect.fromResult(chatRequestOf(requestContext, found, { ...chatFields, stream: false }))
    const check = Effect.tapError(auth.authenticate(request.headers["authorization"], "inference"), ({ reason }) =>
      Effect.sync(() => {
        if (reason._tag === "InvalidApiKey" || reason._tag === "AccountSuspended") auth.forget(principal.keyId)
      })
    )
    const asking = Effect.fnUntraced(function* (admission: Admission | undefined) {
      const served = yield* Effect.mapError(chat.chat(chatRequest, cacheOptions, check), (failed) =>
        withDialectNames(chatNames, failed)
      )
      const { answer, status } = served
      if (admission !== undefined && chatRequest.policy.dataPolicy !== "zero_retention") {
        const free = status === "HIT"
        // A cache hit claims no idempotency key, so only the request's own key identifies its repeat.
        const name = free ? (chatRequest.claim?.claim ?? answer.requestId) : answer.requestId
        yield* sessions.record(admission, turnOf({ name, messages: recordedMessages, free }, answer))
      }
      return served
    })
    const { answer, replayed, status } = yield* Effect.acquireUseRelease(
      sessionId === undefined ? Effect.undefined : roomIn(sessionId, chatRequest, recordedMessages),
      asking,
      (admission) => (admission === undefined ? Effect.void : sessions.release(admission))
    )
    exchange.preset = answer.preset
    exchange.span?.set({ "svc.cache": status })
    return HttpServerResponse.jsonUnsafe(encodeLegacyChat(answer, status === "HIT"), {
      headers: { "x-svc-cache-status": status, ...ignoredHeader(ignored), ...replayHeader(replayed) }
    })
  })
})

/** The legacy routes: `POST /chat` and `POST /images`. */
export const legacyHandlers = Effect.gen(function* () {
  const chat = yield* legacyChat
  const draw = yield* images({ operation: "images", path: "/images" })
  return operations("legacy", {
    chat: (input) => chat(input),
    images: ({ request }) => draw(request)
  })
})
