/** Adds to the published contract what does not follow from the schemas. */

import descriptions from "./published/descriptions.json" with { type: "json" }

type Json = Record<string, unknown>

/** The parts of an OpenAPI document that change here. */
interface Document extends Record<string, unknown> {
  readonly components: { readonly schemas: Record<string, Json> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

type Content = Readonly<Record<string, { readonly schema: Json }>>

interface Operation extends Json {
  readonly responses: Readonly<Record<string, Json & { readonly content?: Content }>>
}

/**
 * Schemas of requests that accept unknown fields, which the gateway ignores. A named schema inside them that is not listed rejects
 * unknown fields.
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

/** Fields of OpenAI's and OpenRouter's requests that accept only these values. */
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

/** OpenRouter's form of `routing`. */
const provider: Json = { anyOf: [{ type: "object" }, { type: "null" }] }

const beside: Readonly<Record<string, Json>> = {
  ChatCompletionRequest: { ...TAKEN.chat, provider },
  PresetChatRequest: { ...TAKEN.chat, provider },
  ResponsesRequest: { ...TAKEN.responses, provider },
  ResponsesTokensRequest: { ...TAKEN.responses, provider }
}

/** A schema with objects that accept additional members. */
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
 * The schemas with a description of each and of its members. `sentences` has them by the schema's name, or by that name, a dot and the
 * member's name.
 */
export const described = (
  schemas: Record<string, Json>,
  sentences: Readonly<Record<string, string>>
): Record<string, Json> => {
  const withSentence = (value: unknown, key: string): Json => {
    const description = sentences[key]
    return { ...(value as Json), ...(description === undefined ? {} : { description }) }
  }
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const whole = withSentence(schema, name)
      if (schema["properties"] === undefined) return [name, whole]
      const members = Object.entries(schema["properties"] as Json)
      const properties = Object.fromEntries(
        members.map(([member, value]) => [member, withSentence(value, `${name}.${member}`)])
      )
      return [name, { ...whole, properties }]
    })
  )
}

/**
 * The document with descriptions, with the requests open that accept unknown fields, with their additional fields, and with the events
 * of streams.
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
  return {
    ...document,
    paths: withStreams(paths),
    components: { ...components, schemas: described(schemas, descriptions) }
  }
}
