/** What the published contract says beyond what follows from the schemas. */

type Json = Record<string, unknown>

/** An OpenAPI document, as far as it is changed here. */
interface Document extends Record<string, unknown> {
  readonly components: { readonly schemas: Record<string, Json> }
}

/**
 * What callers send, which may have members that are not known here: those are ignored. What stands in them under a name of its own
 * and is not listed is closed.
 */
const OPEN = [
  "ChatCompletionRequest",
  "PresetChatRequest",
  "ChatMessage",
  "ResponsesRequest",
  "ResponsesTokensRequest",
  "ResponsesInputMessage",
  "ResponsesSaidMessage",
  "ResponsesSaidReasoning",
  "ResponsesSaidCall",
  "ResponsesCallOutput",
  "ResponsesSaidCustomCall",
  "ResponsesCustomOutput",
  "ResponsesAdditionalTools",
  "ResponsesSaidSearch",
  "ResponsesSearchOutput",
  "ResponsesFunctionTool",
  "ResponsesCustomTool",
  "ResponsesNamespaceTool",
  "ResponsesToolSearchTool",
  "ResponsesHostedTool",
  "ResponsesInputText",
  "ResponsesInputImage",
  "ResponsesInputFile"
] as const

const only = (...values: ReadonlyArray<unknown>): Json => ({ enum: [...values, null] })

/** Members of OpenAI's and OpenRouter's requests that are taken with these values alone. */
export const TAKEN = {
  chat: {
    n: only(1),
    store: only(false),
    service_tier: only("auto", "default"),
    route: only("fallback"),
    top_a: only(0)
  },
  responses: {
    store: only(false),
    background: only(false),
    previous_response_id: only(),
    conversation: only(),
    prompt: only(),
    service_tier: only("auto", "default"),
    route: only("fallback")
  }
} as const

/** OpenRouter's words for `routing`. */
const provider: Json = { anyOf: [{ type: "object" }, { type: "null" }] }

const beside: Readonly<Record<string, Json>> = {
  ChatCompletionRequest: { ...TAKEN.chat, provider },
  PresetChatRequest: { ...TAKEN.chat, provider },
  ResponsesRequest: { ...TAKEN.responses, provider },
  ResponsesTokensRequest: { ...TAKEN.responses, provider }
}

/** A schema whose objects may have further members. */
const opened = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(opened)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      name === "additionalProperties" && member === false ? [] : [[name, opened(member)]]
    )
  )
}

/** The document with the requests open that are, and with the members they take beside those of their schemas. */
export const published = (document: Record<string, unknown>): Record<string, unknown> => {
  const { components } = document as Document
  const schemas = { ...components.schemas }
  for (const name of OPEN) {
    const schema = opened(schemas[name]) as Json
    const more = beside[name]
    schemas[name] =
      more === undefined ? schema : { ...schema, properties: { ...(schema["properties"] as Json), ...more } }
  }
  return { ...document, components: { ...components, schemas } }
}
