import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { NotFoundError } from "../Errors.ts"
import { operation } from "../Operation.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"
import { ResponseObject, ResponsesRequest, ResponsesTokens, ResponsesTokensRequest } from "./Responses.ts"

/** A frame of a stream; `data` is a `ResponsesStreamEvent` as JSON, and `event` its type. */
const StreamFrame = Schema.Struct({
  id: Schema.optional(Schema.String),
  event: Schema.String,
  data: Schema.String
})

/** Chat with any text model in the words of OpenAI's responses, of which none is kept. */
export class ResponsesGroup extends HttpApiGroup.make("responses")
  .add(
    HttpApiEndpoint.post("responses", "/responses", {
      headers: idempotency,
      payload: ResponsesRequest,
      success: [ResponseObject, HttpApiSchema.StreamSse({ events: StreamFrame })],
      error: paidErrors
    }).annotateMerge(operation("responses", "Create a response", { limit: "default", charge: "tokens" })),
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
