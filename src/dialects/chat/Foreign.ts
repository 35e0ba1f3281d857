/** Fields of OpenAI's and OpenRouter's chat request that this service knows and does not support. */
import { type Failure, failure } from "../../domain/Failure.ts"
import { withFoundValue } from "../../domain/SchemaProblems.ts"
import { objectOf } from "../Decode.ts"

/** OpenRouter's plugin that chooses a model. */
export const AUTO_ROUTER = "auto-router"

type Body = Readonly<Record<string, unknown>>

/** Which values of a field change nothing about the answer, and what the error for another value says. */
export interface ValuesWithoutEffect {
  readonly holds: (value: unknown) => boolean
  /** What follows the field's name, such as "must be 1". */
  readonly message: string
}

export const oneOf = (...values: ReadonlyArray<unknown>): ValuesWithoutEffect => ({
  holds: (value) => values.includes(value),
  message: `must be ${["absent", ...values.slice(0, -1).map((value) => JSON.stringify(value))].join(", ")} or ${JSON.stringify(values.at(-1))}`
})
export const emptyList: ValuesWithoutEffect = {
  holds: (value) => Array.isArray(value) && value.length === 0,
  message: "must be absent or empty"
}

/** A field that the gateway does not support at all, and what to do instead. */
export const never = (instead = "omit it"): ValuesWithoutEffect => ({
  holds: () => false,
  message: `is not supported; ${instead}`
})

/** A field that only another dialect has, and what to do instead. `holds` accepts the values without effect. */
export const onlyInSibling =
  (path: string) =>
  (instead: string, { holds }: Pick<ValuesWithoutEffect, "holds"> = never()): ValuesWithoutEffect => ({
    holds,
    message: `is not a field of ${path}; ${instead}`
  })

/** The one kind of output that a chat has. */
export const onlyText: ValuesWithoutEffect = {
  holds: (value) => Array.isArray(value) && value.every((entry) => entry === "text"),
  message: 'must be absent or ["text"]'
}
/** OpenRouter's request for usage, which every answer carries. */
export const anyObject: ValuesWithoutEffect = {
  holds: (value) => objectOf(value) !== undefined,
  message: "must be absent or an object"
}

/** The only plugin that is supported is the one that chooses a model. */
export const onlyAutoRouter: ValuesWithoutEffect = {
  holds: (value) => Array.isArray(value) && value.every((entry) => objectOf(entry)?.["id"] === AUTO_ROUTER),
  message: `must be absent or contain the plugin "${AUTO_ROUTER}" alone`
}

/** For each field, which values the gateway ignores because they do not change the answer. It always ignores null. */
export type IgnoredValues = ReadonlyMap<string, ValuesWithoutEffect>

const harmless: IgnoredValues = new Map(
  Object.entries({
    n: oneOf(1),
    store: oneOf(false),
    modalities: onlyText,
    service_tier: oneOf("auto", "default"),
    usage: anyObject,
    logit_bias: {
      holds: (value) => Object.keys(objectOf(value) ?? { none: true }).length === 0,
      message: "must be absent or empty"
    },
    audio: never(),
    moderation: never(),
    prediction: never(),
    functions: emptyList,
    function_call: oneOf("auto", "none"),
    web_search_options: never("POST /search searches the web"),
    plugins: onlyAutoRouter,
    transforms: emptyList,
    route: oneOf("fallback"),
    top_a: oneOf(0)
  } satisfies Record<string, ValuesWithoutEffect>)
)

const sibling = onlyInSibling("/chat/completions")
const SYSTEM_MESSAGE = "send a message of role system in `messages`"

/** Fields of the Responses and Messages APIs. A client that sends one of them expects its effect. */
const fieldsOfSiblings: IgnoredValues = new Map(
  Object.entries({
    input: sibling("send `messages`"),
    instructions: sibling(SYSTEM_MESSAGE),
    system: sibling(SYSTEM_MESSAGE),
    max_output_tokens: sibling("send `max_tokens`"),
    stop_sequences: sibling("send `stop`", emptyList),
    text: sibling("send `response_format` or `verbosity`"),
    output_format: sibling("send `response_format`")
  } satisfies Record<string, ValuesWithoutEffect>)
)

/** Fields that are decoded elsewhere than in the request's schema. */
const fieldsOutsideSchema = new Set([...harmless.keys(), "provider"])

/** Fields that are accepted or refused by name, and so are never reported as ignored. */
const knownFields = new Set([...fieldsOutsideSchema, ...fieldsOfSiblings.keys()])

export const unsupportedParameter = (param: string, detail: string): Failure =>
  failure({ _tag: "UnsupportedParameter", param, detail })

/** An unsupported member of a part or a tool, and the explanation. */
type UnsupportedMember = readonly [member: string, detail: string]

const inPart = (part: Body): UnsupportedMember | undefined => {
  const { type } = part
  const file = type === "file" ? objectOf(part["file"]) : undefined
  if (file?.["file_id"] != null) return ["file.file_id", "Only inline files are supported"]
  const inline = typeof file?.["file_data"] === "string"
  if (type === "input_audio" || type === "video_url" || (type === "file" && !inline)) {
    return ["type", `Content parts of type ${type} are not supported`]
  }
  return undefined
}

const inTool = (tool: Body): UnsupportedMember | undefined =>
  typeof tool["type"] === "string" && tool["type"] !== "function"
    ? ["type", "Only tools of type function are supported"]
    : undefined

const firstIn = (
  list: unknown,
  at: string,
  find: (entry: Body) => UnsupportedMember | undefined
): Failure | undefined => {
  if (!Array.isArray(list)) return undefined
  for (let index = 0; index < list.length; index++) {
    const entry = objectOf(list[index])
    const found = entry === undefined ? undefined : find(entry)
    if (found !== undefined) return unsupportedParameter(`${at}[${index}].${found[0]}`, found[1])
  }
  return undefined
}

/** Members of an earlier answer that replace its content. */
const inMessage = (message: Body): UnsupportedMember | undefined => {
  const member = ["audio", "function_call"].find((name) => message[name] != null)
  return member === undefined ? undefined : [member, `Messages with ${member} are not supported`]
}

const inMessages = (messages: unknown): Failure | undefined => {
  if (!Array.isArray(messages)) return undefined
  const unsupported = firstIn(messages, "messages", inMessage)
  if (unsupported !== undefined) return unsupported
  for (let index = 0; index < messages.length; index++) {
    const found = firstIn(objectOf(messages[index])?.["content"], `messages[${index}].content`, inPart)
    if (found !== undefined) return found
  }
  return undefined
}

/** The error for the first tool that is not a function of the caller's. */
const unsupportedTool = (tools: unknown): Failure | undefined => firstIn(tools, "tools", inTool)

/** The error for the first field that cannot be ignored. */
export const unsupportedMember = (body: Body, harmless: IgnoredValues): Failure | undefined => {
  for (const name of Object.keys(body)) {
    const value = body[name]
    const one = harmless.get(name)
    if (value === undefined || value === null || one === undefined || one.holds(value)) continue
    return unsupportedParameter(name, `\`${name}\` ${withFoundValue(one.message, name, value)}`)
  }
  return undefined
}

/** The same as `firstUnsupported` for an estimate, which has fields such as `input` itself and rejects unknown fields. */
export const firstUnsupportedOfEstimate = (body: Body): Failure | undefined =>
  unsupportedMember(body, harmless) ?? inMessages(body["messages"]) ?? unsupportedTool(body["tools"])

/** The error for the first unsupported field that would change the answer. */
export const firstUnsupported = (body: Body): Failure | undefined =>
  unsupportedMember(body, fieldsOfSiblings) ?? firstUnsupportedOfEstimate(body)

/** Unknown fields, which are ignored and reported. */
export const ignoredMembers = (
  body: Body,
  fields: ReadonlySet<string>,
  others: ReadonlySet<string> = knownFields
): ReadonlyArray<string> => Object.keys(body).filter((name) => !fields.has(name) && !others.has(name))

/** A request without the fields that are decoded elsewhere than in its schema. */
export const withoutForeign = (body: Body): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !fieldsOutsideSchema.has(name)))
