/** The resources that a client can read without a tool: the list of models, receipts by request, and the documentation. */
import { Effect } from "effect"
import { McpSchema, McpServer } from "effect/ai"
import { RequestId } from "../../schemas/Ids.ts"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { toWire } from "../catalogue/Listing.ts"
import { LiveFigures } from "../catalogue/LiveFigures.ts"
import { documentationPages } from "../http/handlers/Documentation.ts"
import { mcpCall } from "./McpCall.ts"
import { receiptOf } from "../http/handlers/Requests.ts"
import { Requests } from "../usage/Requests.ts"
import { shortOf } from "./Catalogue.ts"

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

const requestId = McpSchema.param("request_id", RequestId)

const receipts = Effect.gen(function* () {
  const requests = yield* Requests
  return yield* McpServer.registerResource`tollgate://requests/${requestId}`({
    name: "Receipt",
    description: "The receipt of a paid request, by its `request_id`.",
    mimeType: "application/json",
    content: (uri, id) =>
      Effect.gen(function* () {
        const { principal } = yield* mcpCall
        const row = yield* requests.find(principal.accountId, id)
        if (row === undefined) return yield* new McpSchema.InvalidParams({ message: `There is no request ${id}` })
        return jsonAt(uri, receiptOf(row))
      })
  })
})

const pages = Effect.flatMap(documentationPages, (all) =>
  Effect.forEach(
    all,
    ({ markdown, path, section, title }) =>
      McpServer.registerResource({
        uri: `${SCHEME}docs/${path}`,
        name: title,
        description: `Documentation, ${section}: ${title}`,
        mimeType: "text/markdown",
        content: Effect.sync(() => textAt(`${SCHEME}docs/${path}`, "text/markdown", markdown))
      }),
    { discard: true }
  )
)

/** Registers all resources with the server. */
export const registerResources = Effect.all([modelList, receipts, pages], { discard: true })
