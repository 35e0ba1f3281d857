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

type Content = Readonly<Record<string, { readonly schema: Json; readonly examples?: unknown }>>

interface Operation extends Json {
  readonly operationId: string
  readonly parameters: ReadonlyArray<Json & { readonly name: string }>
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

const only = (description: string, ...values: ReadonlyArray<unknown>): Json => ({
  description,
  enum: [...values, null]
})

const serviceTier = only("No effect: every request is served at the standard tier.", "auto", "default")
const route = only("No effect: fallbacks are the default. `routing.allow_fallbacks` turns them off.", "fallback")

/** Fields of OpenAI's and OpenRouter's requests that accept only these values. */
export const TAKEN = {
  chat: {
    n: only("An answer has one choice.", 1),
    store: only("The gateway stores no completions.", false),
    service_tier: serviceTier,
    route,
    top_a: only("Sampling by `top_a` is not supported.", 0)
  },
  responses: {
    store: only("The gateway stores no responses.", false),
    background: only("Responses in the background are not supported.", false),
    previous_response_id: only("The gateway stores no responses: send the whole conversation in `input`."),
    conversation: only("The gateway stores no conversations: send the whole conversation in `input`."),
    prompt: only("The gateway stores no prompts. Presets take their place."),
    service_tier: serviceTier,
    route
  }
} as const

const provider: Json = { description: "OpenRouter's form of `routing`.", anyOf: [{ type: "object" }, { type: "null" }] }

const beside: Readonly<Record<string, Json>> = {
  ChatCompletionRequest: { ...TAKEN.chat, provider },
  PresetChatRequest: { ...TAKEN.chat, provider },
  EstimateRequest: { ...TAKEN.chat, provider },
  ResponsesRequest: { ...TAKEN.responses, provider },
  ResponsesTokensRequest: { ...TAKEN.responses, provider }
}

/** A schema with objects that accept additional members. */
const withOpenObjects = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(withOpenObjects)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      name === "additionalProperties" && member === false ? [] : [[name, withOpenObjects(member)]]
    )
  )
}

/** Whether a schema accepts objects and describes none of their members. */
const isFree = (schema: Json): boolean =>
  schema["type"] === "object" && !("properties" in schema) && !("additionalProperties" in schema)

/** Whether a schema accepts arrays, and describes the first items like all others. */
const isPlainList = ({ items, prefixItems }: Json): boolean =>
  Array.isArray(prefixItems) && prefixItems.every((item) => JSON.stringify(item) === JSON.stringify(items))

/**
 * The same schema in a form that generators of clients understand. They read an object without `additionalProperties` as an empty one,
 * and a list with `prefixItems` as one of that length.
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

/** A security scheme with its name in lower case, as the registry of HTTP schemes has it, because readers compare the two. */
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

/** The descriptions by the keys that `descriptions` in `test/support/Descriptions.ts` makes. */
const sentences: Readonly<Record<string, string>> = descriptions

/** The beginning of every published path. The paths of endpoints in `schemas/` leave it out. */
const PREFIX = "/api/v1"

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

/** The text that distinguishes an object of a union: its role or type. */
const tagOf = (properties: Readonly<Record<string, Json>>): string =>
  ["role", "type"]
    .map((name) => properties[name]?.["enum"])
    .flatMap((values) => (Array.isArray(values) ? values : []))[0] ?? ""

/**
 * A schema with a description of each member that has a sentence, by the schema's name and the member's path. A tag before the member's
 * name is that of the one object of a union that describes the member differently.
 */
const withMembers = (schema: Json, path: string): Json =>
  mapValues(schema, (part, keyword) => {
    if (keyword === "properties") {
      const members = part as Readonly<Record<string, Json>>
      const tagged = `${path}.(${tagOf(members)})`
      return mapValues(members, (member, name) => {
        const own = sentences[`${tagged}.${name}`]
        const described = describedAt(member, `${path}.${name}`)
        return own === undefined ? described : { ...described, description: own }
      })
    }
    if (keyword === "items") return withMembers(part as Json, path)
    if (keyword === "anyOf" || keyword === "allOf" || keyword === "prefixItems") {
      return (part as ReadonlyArray<Json>).map((one) => withMembers(one, path))
    }
    return part
  })

/** A schema with its own description, if it has a sentence, and those of its members. */
const describedAt = (schema: Json, path: string): Json => {
  const description = sentences[path]
  return { ...withMembers(schema, path), ...(description === undefined ? {} : { description }) }
}

/** The parameters of an operation with a description of each. */
const withParameters = (parameters: Operation["parameters"], where: string): Operation["parameters"] =>
  parameters.map((parameter) => {
    const description = sentences[`${where} ${parameter.name}`]
    return description === undefined ? parameter : { ...parameter, description }
  })

interface Example {
  readonly request?: unknown
  readonly response?: unknown
}

const exampleOf = (id: string): Example => (examples as Readonly<Record<string, Example>>)[id] ?? {}

/** As a named example: the page of the API reference fills its form with those alone. */
const examplesOf = (value: unknown) => ({ default: { value } })

/** Adds the examples of the operation's request and of its JSON answer. */
const withExamples = (operation: Operation): Operation => {
  const { requestBody } = operation
  const { request, response } = exampleOf(operation.operationId)
  const responses = mapValues(operation.responses, (one, status) => {
    const json = one.content?.["application/json"]
    if (response === undefined || json === undefined || !status.startsWith("2")) return one
    return { ...one, content: { ...one.content, "application/json": { ...json, examples: examplesOf(response) } } }
  })
  if (request === undefined || requestBody === undefined) return { ...operation, responses }
  const content = mapValues(requestBody.content, (one) => ({ ...one, examples: examplesOf(request) }))
  return { ...operation, responses, requestBody: { ...requestBody, content } }
}

/** The names of the tags with the messages beside the other formats of chat. The group comes late because its errors have another form. */
const inReadingOrder = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.flatMap((name) => (name === "messages" ? [] : name === "responses" ? [name, "messages"] : [name]))

/** The address of a gateway that runs with its defaults. A served document has the gateway's own instead. */
const servers = [{ url: "http://127.0.0.1:8787", description: "A gateway with the default settings." }]

/**
 * The document with descriptions, the facts and examples of every operation, and the events of streams. Requests that accept unknown
 * fields are open, and have the fields that accept only some values.
 */
export const publishedDocument = (document: Record<string, unknown>, groups: Groups): Record<string, unknown> => {
  const { components, openapi, info, paths, tags, ...others } = document as Document
  const schemas = { ...components.schemas }
  for (const name of OPEN) schemas[name] = withOpenObjects(schemas[name]) as Json
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
    paths: mapValues(paths, (methods, path) =>
      mapValues(methods, (operation, method) =>
        withExamples({
          ...operation,
          parameters: withParameters(operation.parameters, `${method.toUpperCase()} ${path.replace(PREFIX, "")}`),
          ...facts.get(operation.operationId),
          responses: withResponses(operation.responses)
        })
      )
    ),
    components: {
      ...components,
      securitySchemes: mapValues(components.securitySchemes, lowerCased),
      schemas: mapValues(schemas, (schema, name) => plain(describedAt(schema, name)) as Json)
    },
    ...others
  }
}
