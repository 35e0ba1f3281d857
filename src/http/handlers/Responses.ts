import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller } from "../../../schemas/Access.ts"
import type { ResponsesTokens } from "../../../schemas/inference/Responses.ts"
import { Catalogue } from "../../catalogue/Catalogue.ts"
import { modelFieldsOf } from "../../dialects/Decode.ts"
import { decodePrompt, decodeResponses, type DecodedResponses } from "../../dialects/responses/ResponsesDecode.ts"
import { responsesNames } from "../../dialects/RefusedMember.ts"
import { encodeResponse, headersOf } from "../../dialects/responses/ResponsesEncode.ts"
import { ResponsesStreamEncoder } from "../../dialects/responses/ResponsesStream.ts"
import { countPrompt } from "../../domain/Tokens.ts"
import { ReasoningSeals } from "../../inference/ReasoningSeals.ts"
import { Config } from "../../platform/config/Config.ts"
import { Presets } from "../../presets/Presets.ts"
import { readJson } from "../edge/Body.ts"
import {
  calledBy,
  type ChatDialect,
  chatOperation,
  ignoredHeader,
  knownModels,
  withinMessages
} from "./ChatOperation.ts"
import { Exchange } from "../edge/Exchange.ts"
import { takePreset } from "./Preset.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

/** `POST /responses`. */
export const responsesDialect: ChatDialect<DecodedResponses> = {
  decode: (body, preset, _, base, open) => decodeResponses(body, preset?.config, base, open),
  encode: (answer, { echo }) => encodeResponse(answer, echo),
  encoder: (opening, { echo }) => new ResponsesStreamEncoder({ ...opening, echo }),
  headersOf,
  names: responsesNames
}

const place = { operation: "responses", path: "/responses" }

const counting = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  const presets = yield* Presets
  const { maxMessages } = yield* Config
  const seals = yield* ReasoningSeals
  return Effect.fnUntraced(function* (request: ApiRequest) {
    const { accountId } = yield* Caller
    const body = yield* readJson(request)
    const sent = modelFieldsOf(body)
    const preset = yield* takePreset(presets, yield* Exchange, { accountId, sent })
    const open = seals.openFor(accountId)
    const { conversation, ignored, model, models } = yield* Effect.fromResult(
      withinMessages(body, { maxMessages, prompt: "input" }, () => decodePrompt(body, preset?.config, undefined, open))
    )
    // The count is the same for every model, so the model is optional.
    if (model !== undefined || models !== undefined) {
      yield* Effect.fromResult(knownModels(catalogue.current(), sent, { model, models }))
    }
    const counted: ResponsesTokens = { object: "response.input_tokens", input_tokens: countPrompt(conversation) }
    return HttpServerResponse.jsonUnsafe(counted, { headers: ignoredHeader(ignored) })
  })
})

/** `POST /responses` and `POST /responses/input_tokens`. */
export const responsesHandlers = Effect.gen(function* () {
  const responses = yield* chatOperation(responsesDialect)
  const inputTokens = yield* counting
  return operations("responses", {
    responses: (call) => Effect.flatMap(calledBy(call), (called) => responses(called, place)),
    inputTokens: ({ request }) => inputTokens(request)
  })
})
