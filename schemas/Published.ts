/** What the published contract says beyond what follows from the schemas. */

type Json = Record<string, unknown>

/** An OpenAPI document, as far as it is changed here. */
interface Document extends Record<string, unknown> {
  readonly components: { readonly schemas: Record<string, Json> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

type Content = Readonly<Record<string, { readonly schema: Json }>>

interface Operation extends Json {
  readonly responses: Readonly<Record<string, Json & { readonly content?: Content }>>
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

const EVENTS = "text/event-stream"

/** The event of a stream by the answer that the stream replaces. */
const events: Readonly<Record<string, string>> = {
  ChatCompletion: "ChatCompletionChunk",
  Response: "ResponsesStreamEvent",
  MessagesAnswer: "MessagesStreamEvent"
}

/** A stream is described by what the `data` of one of its events holds. */
const withEvents = (content: Content): Content => {
  const answer = String(content["application/json"]?.schema["$ref"]).split("/").at(-1) ?? ""
  const event = events[answer]
  if (content[EVENTS] === undefined || event === undefined) return content
  const schema = { $ref: `#/components/schemas/${event}`, description: "The JSON in the `data` of each event." }
  return { ...content, [EVENTS]: { schema } }
}

const mapValues = <A, B>(all: Readonly<Record<string, A>>, change: (one: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(all).map(([name, one]) => [name, change(one)]))

const withStreams = (paths: Document["paths"]): Document["paths"] =>
  mapValues(paths, (methods) =>
    mapValues(methods, (operation) => ({
      ...operation,
      responses: mapValues(operation.responses, (response) =>
        response.content === undefined ? response : { ...response, content: withEvents(response.content) }
      )
    }))
  )

/**
 * The document with the requests open that are, with the members they take beside those of their schemas, and with the events of
 * streams.
 */
export const published = (document: Record<string, unknown>): Record<string, unknown> => {
  const { components, paths } = document as Document
  const schemas = { ...components.schemas }
  for (const name of OPEN) {
    const schema = opened(schemas[name]) as Json
    const more = beside[name]
    schemas[name] =
      more === undefined ? schema : { ...schema, properties: { ...(schema["properties"] as Json), ...more } }
  }
  return { ...document, paths: withStreams(paths), components: { ...components, schemas } }
}
