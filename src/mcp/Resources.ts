/** The resources that a client can read without a tool: the list of models, receipts by request, and the documentation. */
import { Context, Effect, Schema } from "effect"
import { McpSchema, McpServer } from "effect/ai"
import { REQUEST_ID_FORM, RequestId } from "../../schemas/Ids.ts"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { toWire } from "../catalogue/Listing.ts"
import { LiveFigures } from "../catalogue/LiveFigures.ts"
import { failure, invalid } from "../domain/Failure.ts"
import { documentationPages, withAddress } from "../http/handlers/Documentation.ts"
import { mcpCall } from "./McpCall.ts"
import { PublicUrl } from "../platform/outbound/PublicUrl.ts"
import { receiptOf } from "../http/handlers/Requests.ts"
import { Requests } from "../usage/Requests.ts"
import { withStoreFailures } from "./Account.ts"
import { shortOf } from "./Catalogue.ts"
import { withRpcErrors } from "./RpcErrors.ts"

const SCHEME = "tollgate://"

const textAt = (uri: string, mimeType: string, text: string) =>
  McpSchema.ReadResourceResult.make({ contents: [{ uri, mimeType, text }] })

const jsonAt = (uri: string, value: unknown) => textAt(uri, "application/json", JSON.stringify(value))

const modelList = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  const live = yield* LiveFigures
  const uri = `${SCHEME}models`
  return yield* McpServer.registerResource({
    uri,
    name: "Models",
    description: "Every model that can be called now, in the short form of `list_models`.",
    mimeType: "application/json",
    content: Effect.sync(() => {
      const current = catalogue.current()
      const models = current.all.map((model) => toWire(current, live, model)).filter(({ servable }) => servable)
      return jsonAt(uri, { models: models.map(shortOf) })
    })
  })
})

const RECEIPTS = `${SCHEME}requests/`

const isRequestId = Schema.is(RequestId)

/** Adds the template itself, because `registerResource` answers an unknown request with an internal error. */
const receipts = Effect.gen(function* () {
  const requests = yield* Requests
  const server = yield* McpServer.McpServer
  yield* server.addResourceTemplate({
    template: new McpSchema.ResourceTemplate({
      uriTemplate: `${RECEIPTS}{request_id}`,
      name: "Receipt",
      description: "The receipt of a paid request, by its `request_id`.",
      mimeType: "application/json"
    }),
    annotations: Context.empty(),
    // The router takes a colon for a parameter unless it is doubled.
    routerPath: `${RECEIPTS.replace(":", "::")}:0`,
    completions: {},
    handle: (uri, [id = ""]) =>
      withRpcErrors(
        Effect.gen(function* () {
          if (!isRequestId(id)) return yield* invalid("uri", `must be ${RECEIPTS} followed by ${REQUEST_ID_FORM}`)
          const { principal } = yield* mcpCall
          const row = yield* withStoreFailures(requests.find(principal.accountId, id))
          if (row === undefined) return yield* failure({ _tag: "NotFound", what: "request", id, param: "uri" })
          return jsonAt(uri, receiptOf(row))
        })
      )
  })
})

const pages = Effect.gen(function* () {
  const publicUrl = yield* PublicUrl
  for (const { markdown, path, section, title } of yield* documentationPages) {
    const uri = `${SCHEME}docs/${path}`
    yield* McpServer.registerResource({
      uri,
      name: title,
      description: `Documentation, ${section}: ${title}`,
      mimeType: "text/markdown",
      content: Effect.sync(() => textAt(uri, "text/markdown", withAddress(markdown, publicUrl.base())))
    })
  }
})

/** Registers all resources with the server. */
export const registerResources = Effect.all([modelList, receipts, pages], { discard: true })
