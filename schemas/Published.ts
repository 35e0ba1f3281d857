/** Adds to the published contract what does not follow from the schemas. */
import { Context, Option } from "effect"
import { type HttpApiEndpoint, type HttpApiGroup, OpenApi } from "effect/http-api"
import { credentialsOf } from "./Access.ts"
import { Operation as Facts } from "./Operation.ts"
import descriptions from "./published/descriptions.json" with { type: "json" }
import examples from "./published/examples.json" with { type: "json" }

type Json = Record<string, unknown>

/** The parts of an OpenAPI document that change here. */
interface Document extends Record<string, unknown> {
  readonly components: { readonly schemas: Record<string, Json>; readonly securitySchemes: Record<string, Json> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly tags: ReadonlyArray<{ readonly name: string }>
}

type Content = Readonly<Record<string, { readonly schema: Json; readonly example?: unknown }>>

interface Operation extends Json {
  readonly operationId: string
  readonly requestBody?: Json & { readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}

interface Response extends Json {
  readonly description: string
  readonly content?: Content
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
  EstimateRequest: { ...TAKEN.chat, provider },
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

/** Whether a schema is of objects whose members it does not describe. */
const isFree = (schema: Json): boolean =>
  schema["type"] === "object" && !("properties" in schema) && !("additionalProperties" in schema)

/** Whether a schema is of arrays whose first items have the schema of all others. */
const isPlainList = ({ items, prefixItems }: Json): boolean =>
  Array.isArray(prefixItems) && prefixItems.every((item) => JSON.stringify(item) === JSON.stringify(items))

/**
 * The same schema in words that generators of clients understand. They take an object without a word on its members for an empty one,
 * and a list that describes its first item for a list of one.
 */
const plain = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  const members: Json = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
  if (isFree(members)) return { ...members, additionalProperties: true }
  if (!isPlainList(members)) return members
  const { prefixItems, ...others } = members
  return { minItems: (prefixItems as ReadonlyArray<unknown>).length, ...others }
}

/** A security scheme with its name as the registry of HTTP schemes has it: readers of documents compare it with that. */
const lowerCased = (scheme: Json): Json =>
  typeof scheme["scheme"] === "string" ? { ...scheme, scheme: scheme["scheme"].toLowerCase() } : scheme

const EVENTS = "text/event-stream"

/** The event of a stream by the answer that the stream replaces. */
const events: Readonly<Record<string, string>> = {
  ChatCompletion: "ChatCompletionChunk",
  Response: "ResponsesStreamEvent",
  MessagesAnswer: "MessagesStreamEvent"
}

const nameOf = (schema: Json | undefined): string => String(schema?.["$ref"]).split("/").at(-1) ?? ""

/** Describes a stream by the `data` of one of its events. */
const withEvents = (content: Content): Content => {
  const event = events[nameOf(content["application/json"]?.schema)]
  if (content[EVENTS] === undefined || event === undefined) return content
  const schema = { $ref: `#/components/schemas/${event}`, description: "The JSON in the `data` of each event." }
  return { ...content, [EVENTS]: { schema } }
}

const sentences: Readonly<Record<string, string>> = descriptions

const firstSentence = (text: string): string => /^[^]*?[.:](?= [A-Z`]|$)/.exec(text)?.[0].replace(/:$/, ".") ?? text

/** The status before the description of an error, which the response already has as its key. */
const STATUS = /^\d{3} — (.)/

/** The first sentence about the schema of a response. A response without a described schema keeps its own description. */
const responseSentence = ({ content, description }: Response): string => {
  const about = sentences[nameOf(content?.["application/json"]?.schema)]
  return about === undefined
    ? description
    : firstSentence(about).replace(STATUS, (_, first: string) => first.toUpperCase())
}

const mapValues = <A, B>(all: Readonly<Record<string, A>>, change: (one: A, name: string) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(all).map(([name, one]) => [name, change(one, name)]))

const withResponses = (responses: Operation["responses"]): Operation["responses"] =>
  mapValues(responses, (response) => {
    const description = responseSentence(response)
    return response.content === undefined
      ? { ...response, description }
      : { ...response, description, content: withEvents(mapValues(response.content, ({ schema }) => ({ schema }))) }
  })

type Groups = Readonly<Record<string, HttpApiGroup.Constraint>>

/** The facts of every operation as members of its description, by the operation's name. */
const factsIn = (groups: Groups): ReadonlyMap<string, Json> =>
  new Map(
    (Object.values(groups) as ReadonlyArray<unknown> as ReadonlyArray<HttpApiGroup.Top>)
      .flatMap(({ endpoints }): ReadonlyArray<HttpApiEndpoint.Top> => Object.values(endpoints))
      .flatMap((endpoint): ReadonlyArray<readonly [string, Json]> => {
        const id = Context.getOption(endpoint.annotations, OpenApi.Identifier)
        const facts = Context.getOption(endpoint.annotations, Facts)
        if (Option.isNone(id) || Option.isNone(facts)) return []
        const { charge, limit, scope } = facts.value
        const members = { "x-charge": charge, "x-limit": limit, "x-credential": credentialsOf(endpoint) }
        return [[id.value, scope === undefined ? members : { ...members, "x-scope": scope }]]
      })
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

interface Example {
  readonly request?: unknown
  readonly response?: unknown
}

const exampleOf = (id: string): Example => (examples as Readonly<Record<string, Example>>)[id] ?? {}

/** Adds the examples of the operation's request and of its JSON answer. */
const withExamples = (operation: Operation): Operation => {
  const { requestBody } = operation
  const { request, response } = exampleOf(operation.operationId)
  const responses = mapValues(operation.responses, (one, status) => {
    const json = one.content?.["application/json"]
    if (response === undefined || json === undefined || !status.startsWith("2")) return one
    return { ...one, content: { ...one.content, "application/json": { ...json, example: response } } }
  })
  if (request === undefined || requestBody === undefined) return { ...operation, responses }
  const content = mapValues(requestBody.content, (one) => ({ ...one, example: request }))
  return { ...operation, responses, requestBody: { ...requestBody, content } }
}

/** The names of the tags with the messages beside the other formats of chat. The group comes late because its errors have another form. */
const inReadingOrder = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.flatMap((name) => (name === "messages" ? [] : name === "responses" ? [name, "messages"] : [name]))

/** The address of a gateway that runs with its defaults. A served document has the gateway's own instead. */
const servers = [{ url: "http://127.0.0.1:8787", description: "A gateway with the default settings." }]

/**
 * The document with descriptions, with the facts and examples of every operation, with the requests open that accept unknown fields, with their
 * additional fields, and with the events of streams.
 */
export const published = (document: Record<string, unknown>, groups: Groups): Record<string, unknown> => {
  const { components, openapi, info, paths, tags, ...others } = document as Document
  const schemas = { ...components.schemas }
  for (const name of OPEN) schemas[name] = opened(schemas[name]) as Json
  for (const [name, more] of Object.entries(beside)) {
    const schema = schemas[name] as Json
    schemas[name] = { ...schema, properties: { ...(schema["properties"] as Json), ...more } }
  }
  const facts = factsIn(groups)
  return {
    openapi,
    info,
    servers,
    tags: inReadingOrder(tags.map(({ name }) => name)).map((name) => ({
      name,
      description: sentences[`tag:${name}`]
    })),
    paths: mapValues(paths, (methods) =>
      mapValues(methods, (operation) =>
        withExamples({
          ...operation,
          ...facts.get(operation.operationId),
          responses: withResponses(operation.responses)
        })
      )
    ),
    components: {
      ...components,
      securitySchemes: mapValues(components.securitySchemes, lowerCased),
      schemas: mapValues(described(schemas, descriptions), (schema) => plain(schema) as Json)
    },
    ...others
  }
}
