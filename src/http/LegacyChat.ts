import { Effect, Layer } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Caller } from "../../schemas/Access.ts"
import { Api } from "../../schemas/Api.ts"
import { Auth } from "../auth/Auth.ts"
import { usageOf } from "../dialects/chat/ChatEncode.ts"
import { type DecodedLegacyChat, decodeLegacyChat } from "../dialects/legacy/LegacyDecode.ts"
import { encodeLegacyChat } from "../dialects/legacy/LegacyEncode.ts"
import { failure, invalid } from "../domain/Failure.ts"
import type { Answer } from "../inference/Answer.ts"
import { CachedChat } from "../inference/CachedChat.ts"
import type { ChatRequest } from "../inference/Request.ts"
import { Config } from "../platform/Config.ts"
import type { Unavailable } from "../platform/Sql.ts"
import { Presets } from "../presets/Presets.ts"
import { MAX_MESSAGES_PER_SESSION, MAX_SESSION_BYTES, Sessions } from "../sessions/Sessions.ts"
import type { Turn } from "../sessions/Turn.ts"
import { Requests } from "../usage/Requests.ts"
import { readJson } from "./Body.ts"
import { cacheWishOf } from "./CacheControl.ts"
import { answered } from "./Chat.ts"
import { chatRequestOf, circumstancesOf, ignoredHeader, replayHeader } from "./ChatOperation.ts"
import { Exchange } from "./Exchange.ts"
import { images } from "./Images.ts"
import { leanHandlers } from "./Lean.ts"
import { takePreset } from "./Preset.ts"

type Said = DecodedLegacyChat["said"]

const FULL = `the session is full: it has at most ${MAX_MESSAGES_PER_SESSION} messages and ${MAX_SESSION_BYTES} bytes`

/** What a session keeps of a request and its answer. */
const turnOf = (name: string, messages: Said, { cost, output, resolvedModel, usage }: Answer): Turn => ({
  name,
  messages,
  answer: { content: output.text, model: resolvedModel, usage: usageOf(usage), cost }
})

const legacyChat = Effect.gen(function* () {
  const auth = yield* Auth
  const chat = yield* CachedChat
  const presets = yield* Presets
  const { sandbox } = yield* Config
  const sessions = yield* Sessions
  const requests = yield* Requests
  const inStore = Effect.mapError((error: Unavailable) => failure({ _tag: "StoreUnavailable" }, error))
  /** The session that a request goes to, before anything is spent on it. One that is full still has answers to repeats. */
  const taken = Effect.fnUntraced(function* (name: string, { claim, principal }: ChatRequest, said: Said) {
    const session = yield* inStore(sessions.named(principal.accountId, name))
    if (session === undefined) return yield* failure({ _tag: "NotFound", what: "session", id: name })
    if (yield* inStore(sessions.hasRoom(session, said))) return session
    const before = claim && (yield* inStore(requests.claimedBy(principal.accountId, claim.claim)))
    return before === undefined ? yield* invalid("session_id", FULL) : session
  })
  return Effect.fnUntraced(function* ({ request }: { readonly request: HttpServerRequest.HttpServerRequest }) {
    const exchange = yield* Exchange
    const principal = yield* Caller
    const cacheWish = yield* Effect.fromResult(cacheWishOf(request.headers))
    const body = yield* readJson(request)
    const preset = yield* takePreset(presets, exchange, { accountId: principal.accountId, body })
    const { ignored, said, sessionId, ...wish } = yield* Effect.fromResult(decodeLegacyChat(body, preset?.config))
    const received = { request, exchange, principal, body, operation: "chat", path: "/chat", sandbox }
    const circumstances = yield* Effect.fromResult(circumstancesOf(received))
    const asked = yield* Effect.fromResult(chatRequestOf(circumstances, { body, preset }, { ...wish, stream: false }))
    const check = Effect.tapError(auth.authenticate(request.headers["authorization"], "inference"), ({ reason }) =>
      Effect.sync(() => {
        if (reason._tag === "InvalidApiKey") auth.forget(principal.keyId)
      })
    )
    const session = sessionId === undefined ? undefined : yield* taken(sessionId, asked, said)
    const { answer, replayed, status } = yield* chat.chat(asked, cacheWish, check)
    exchange.preset = answer.preset
    if (session !== undefined && asked.policy.dataPolicy !== "zero_retention") {
      // A hit claims no key, so that a repeat of it is known by its own alone.
      const name = status === "HIT" ? (asked.claim?.claim ?? answer.requestId) : answer.requestId
      yield* sessions.record(session.id, turnOf(name, said, answer))
    }
    exchange.span?.set({ "svc.cache": status })
    return HttpServerResponse.jsonUnsafe(encodeLegacyChat(answer, status === "HIT"), {
      headers: { "x-svc-cache-status": status, ...ignoredHeader(ignored), ...replayHeader(replayed) }
    })
  })
})

/** The legacy routes: `POST /chat` and `POST /images`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const chat = yield* legacyChat
    const draw = yield* images({ operation: "images", path: "/images" })
    return leanHandlers(
      HttpApiBuilder.group(Api, "legacy", (handlers) =>
        handlers
          .handleRaw("chat", (input) => answered(chat(input)))
          .handleRaw("images", ({ request }) => answered(draw(request)))
      )
    )
  })
)
