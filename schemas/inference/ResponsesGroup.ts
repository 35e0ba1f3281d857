import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { NotFoundError } from "../Errors.ts"
import { operation } from "../Operation.ts"
import { idempotency, paidErrors, StreamFrame } from "./ChatGroup.ts"
import { ResponsesRequest, ResponsesTokensRequest } from "./Responses.ts"
import { ResponseObject, ResponsesTokens } from "./ResponsesAnswer.ts"

/** A complete answer cannot have additional members, so a header takes the place of `balance_warning`. */
const withWarningHeader = (operation: Record<string, unknown>): Record<string, unknown> => {
  const responses = operation["responses"] as Readonly<Record<string, object>>
  const header = {
    description: "The threshold that the balance is below; absent while it is not.",
    schema: { type: "string" }
  }
  return {
    ...operation,
    responses: { ...responses, "200": { ...responses["200"], headers: { "X-Balance-Warning": header } } }
  }
}

/** Chat with any text model in the format of OpenAI's Responses API. Nothing is stored. */
export class ResponsesGroup extends HttpApiGroup.make("responses")
  .add(
    HttpApiEndpoint.post("responses", "/responses", {
      headers: idempotency,
      payload: ResponsesRequest,
      success: [ResponseObject, HttpApiSchema.StreamSse({ events: StreamFrame })],
      error: paidErrors
    })
      .annotateMerge(operation("responses", "Create a response", { limit: "default", charge: "tokens" }))
      .annotate(OpenApi.Transform, withWarningHeader),
    HttpApiEndpoint.post("inputTokens", "/responses/input_tokens", {
      payload: ResponsesTokensRequest,
      success: ResponsesTokens,
      error: NotFoundError
    }).annotateMerge(
      operation("responses.input_tokens", "Count the tokens of a response's input", {
        limit: "default",
        charge: "free",
        safe: true
      })
    )
  )
  .middleware(InferenceAccess) {}
