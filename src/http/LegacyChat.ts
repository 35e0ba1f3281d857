import { Effect, Layer } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Caller } from "../../schemas/Access.ts"
import { Api } from "../../schemas/Api.ts"
import { Auth } from "../auth/Auth.ts"
import { decodeLegacyChat } from "../dialects/legacy/LegacyDecode.ts"
import { encodeLegacyChat } from "../dialects/legacy/LegacyEncode.ts"
import { CachedChat } from "../inference/CachedChat.ts"
import { Config } from "../platform/Config.ts"
import { Presets } from "../presets/Presets.ts"
import { readJson } from "./Body.ts"
import { cacheWishOf } from "./CacheControl.ts"
import { answered } from "./Chat.ts"
import { chatRequestOf, circumstancesOf, ignoredHeader, replayHeader } from "./ChatOperation.ts"
import { Exchange } from "./Exchange.ts"
import { leanHandlers } from "./Lean.ts"
import { takePreset } from "./Preset.ts"

const legacyChat = Effect.gen(function* () {
  const auth = yield* Auth
  const chat = yield* CachedChat
  const presets = yield* Presets
  const { sandbox } = yield* Config
  return Effect.fnUntraced(function* ({ request }: { readonly request: HttpServerRequest.HttpServerRequest }) {
    const exchange = yield* Exchange
    const principal = yield* Caller
    const cacheWish = yield* Effect.fromResult(cacheWishOf(request.headers))
    const body = yield* readJson(request)
    const preset = yield* takePreset(presets, exchange, { accountId: principal.accountId, body })
    const { ignored, ...wish } = yield* Effect.fromResult(decodeLegacyChat(body, preset?.config))
    const received = { request, exchange, principal, body, operation: "chat", path: "/chat", sandbox }
    const circumstances = yield* Effect.fromResult(circumstancesOf(received))
    const asked = yield* Effect.fromResult(chatRequestOf(circumstances, { body, preset }, { ...wish, stream: false }))
    const check = Effect.tapError(auth.authenticate(request.headers["authorization"], "inference"), ({ reason }) =>
      Effect.sync(() => {
        if (reason._tag === "InvalidApiKey") auth.forget(principal.keyId)
      })
    )
    const { answer, replayed, status } = yield* chat.chat(asked, cacheWish, check)
    exchange.preset = answer.preset
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
