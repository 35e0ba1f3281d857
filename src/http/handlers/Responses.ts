import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ResponsesTokens } from "../../../schemas/inference/ResponsesAnswer.ts"
import { decodePrompt, decodeResponses, type DecodedResponses } from "../../dialects/responses/ResponsesDecode.ts"
import { responsesNames } from "../../dialects/RefusedMember.ts"
import { encodeResponse, headersOf } from "../../dialects/responses/ResponsesEncode.ts"
import { ResponsesStreamEncoder } from "../../dialects/responses/ResponsesStream.ts"
import { withCaller, type ChatDialect, chatOperation, countOperation, ignoredHeader } from "./ChatOperation.ts"
import { operations } from "../edge/Operations.ts"

/** `POST /responses`. */
export const responsesDialect: ChatDialect<DecodedResponses> = {
  decode: (body, preset, _, base, open) => decodeResponses(body, preset?.config, base, open),
  encode: (answer, { echo }) => encodeResponse(answer, echo),
  encoder: (opening, { echo }) => new ResponsesStreamEncoder({ ...opening, echo }),
  headersOf,
  names: responsesNames
}

const place = { operation: "responses", path: "/responses" }

/** `POST /responses` and `POST /responses/input_tokens`. */
export const responsesHandlers = Effect.gen(function* () {
  const responses = yield* chatOperation(responsesDialect)
  const inputTokens = yield* countOperation({
    decode: (body, preset, open) => decodePrompt(body, preset, undefined, open),
    prompt: "input",
    modelless: true
  })
  return operations("responses", {
    responses: (call) => Effect.flatMap(withCaller(call), (called) => responses(called, place)),
    inputTokens: ({ request }) =>
      Effect.map(inputTokens(request), ({ decoded, tokens }) => {
        const counted: ResponsesTokens = { object: "response.input_tokens", input_tokens: tokens }
        return HttpServerResponse.jsonUnsafe(counted, { headers: ignoredHeader(decoded.ignored) })
      })
  })
})
