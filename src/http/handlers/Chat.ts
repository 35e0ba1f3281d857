import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller, type Principal } from "../../../schemas/Access.ts"
import { Budgets } from "../../account/Budgets.ts"
import { Catalogue } from "../../catalogue/Catalogue.ts"
import { decodeChat, type DecodedChat } from "../../dialects/chat/ChatDecode.ts"
import { encodeCompletion } from "../../dialects/chat/ChatEncode.ts"
import { ChatStreamEncoder } from "../../dialects/chat/ChatStream.ts"
import { chatNames } from "../../dialects/RefusedMember.ts"
import { decodeEstimate, encodeEstimate } from "../../dialects/Estimate.ts"
import { modelFieldsOf } from "../../dialects/Decode.ts"
import { basePolicy } from "../../dialects/Routing.ts"
import { decodeWorkEstimate, encodeWorkEstimate } from "../../dialects/WorkEstimate.ts"
import type { ModelFields } from "../../domain/Chain.ts"
import { storeFailure } from "../../domain/Failure.ts"
import { Inference } from "../../inference/Inference.ts"
import { ReasoningSeals } from "../../inference/ReasoningSeals.ts"
import { Videos } from "../../videos/Videos.ts"
import { Work } from "../../inference/Work.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import { Config } from "../../platform/config/Config.ts"
import { Presets } from "../../presets/Presets.ts"
import { readJson } from "../edge/Body.ts"
import { type CallerRequest, withCaller, type ChatDialect, chatOperation, withinMessages } from "./ChatOperation.ts"
import { Exchange } from "../edge/Exchange.ts"
import { takePreset } from "./Preset.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

/** The scope of an idempotency key, whatever the spelling of the URL. */
const pathOf = (slug: string | undefined): string =>
  slug === undefined ? "/chat/completions" : `/presets/${slug}/chat/completions`

/** `POST /chat/completions`, with a preset in its path or without. */
export const chatDialect: ChatDialect<DecodedChat> = {
  decode: (body, preset, byPath, base, open) =>
    decodeChat(body, preset && { config: preset.config, byPath }, base, open),
  encode: encodeCompletion,
  encoder: (opening, { includeUsage }) => new ChatStreamEncoder({ ...opening, includeUsage }),
  names: chatNames
}

/** Serves both paths. */
export const completions = Effect.map(
  chatOperation(chatDialect),
  (serve) => (called: CallerRequest, slug?: string) =>
    serve(called, {
      operation: slug === undefined ? "chat.completions" : "presets.chat.completions",
      path: pathOf(slug),
      slug
    })
)

/** Estimates the cost of a request with this body for its account. */
export const estimates = Effect.gen(function* () {
  const inference = yield* Inference
  const ledger = yield* Ledger
  const presets = yield* Presets
  const catalogue = yield* Catalogue
  const work = yield* Work
  const videos = yield* Videos
  const budgets = yield* Budgets
  const seals = yield* ReasoningSeals
  const { maxMessages } = yield* Config
  const balanceOf = ({ accountId, budgets: limits }: Principal) =>
    Effect.zipWith(
      ledger.balance(accountId),
      budgets.roomIn(limits.map(({ id }) => id)),
      (balance = { posted: 0n, held: 0n }, budgetLeft) => ({ ...balance, budgetLeft })
    ).pipe(Effect.mapError(storeFailure))
  /** The modality of the model that a body names, if it is not a chat model. */
  const otherThanChat = ({ model }: ModelFields) => {
    const modality = typeof model === "string" ? catalogue.find(model)?.modality : undefined
    return modality === "text" ? undefined : modality
  }
  return Effect.fnUntraced(function* (principal: Principal, exchange: Exchange, body: unknown) {
    const { accountId } = principal
    const sent = modelFieldsOf(body)
    const modality = otherThanChat(sent)
    if (modality !== undefined) {
      const toEstimate = yield* Effect.fromResult(decodeWorkEstimate(body, modality, basePolicy(principal)))
      const ready = yield* Effect.fromResult(
        toEstimate.options === undefined
          ? work.prepare(toEstimate)
          : videos.prepare({ ...toEstimate, options: toEstimate.options })
      )
      return encodeWorkEstimate(toEstimate, ready, yield* balanceOf(principal))
    }
    const preset = yield* takePreset(presets, exchange, { accountId, sent })
    const { model, preparation } = yield* Effect.fromResult(
      withinMessages(body, { maxMessages }, () =>
        decodeEstimate(body, preset?.config, basePolicy(principal), seals.openFor(accountId))
      )
    )
    const prepared = yield* Effect.fromResult(inference.prepare({ ...preparation, accountId }))
    return encodeEstimate(model, prepared, yield* balanceOf(principal))
  })
})

/** `POST /chat/completions`, the same by a preset, and `POST /estimate`. */
export const chatHandlers = Effect.gen(function* () {
  const serve = yield* completions
  const chatCompletions = (call: Omit<CallerRequest, "principal">, slug?: string) =>
    Effect.flatMap(withCaller(call), (called) => serve(called, slug))
  const estimateOf = yield* estimates
  const estimate = Effect.fnUntraced(function* (request: ApiRequest) {
    const body = yield* readJson(request)
    return HttpServerResponse.jsonUnsafe(yield* estimateOf(yield* Caller, yield* Exchange, body))
  })
  return operations("chat", {
    chatCompletions: (call) => chatCompletions(call),
    presetChatCompletions: (call) => chatCompletions(call, call.params.slug),
    estimate: ({ request }) => estimate(request)
  })
})
