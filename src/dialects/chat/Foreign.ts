/** Fields of OpenAI's and OpenRouter's chat request that this service knows and does not support. */
import { type Failure, failure } from "../../domain/Failure.ts"
import { objectOf } from "../Decode.ts"

/** OpenRouter's plugin that chooses a model. */
export const AUTO_ROUTER = "auto-router"

type Body = Readonly<Record<string, unknown>>

const isEmptyObject = (value: unknown) => objectOf(value) !== undefined && Object.keys(objectOf(value)!).length === 0
export const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0
export const oneOf =
  (...values: ReadonlyArray<unknown>) =>
  (value: unknown) =>
    values.includes(value)
export const nothing = () => false

/** Whether the only plugin is the one that chooses a model, which is supported. */
export const onlyAutoRouter = (value: unknown) =>
  Array.isArray(value) && value.every((entry) => objectOf(entry)?.["id"] === AUTO_ROUTER)

/** For each field, whether a value can be ignored without changing the answer. A null always can. */
export type Harmless = ReadonlyMap<string, (value: unknown) => boolean>

const harmless: Harmless = new Map(
  Object.entries({
    n: oneOf(1),
    store: oneOf(false),
    modalities: (value) => Array.isArray(value) && value.every((entry) => entry === "text"),
    service_tier: oneOf("auto", "default"),
    usage: (value) => objectOf(value) !== undefined,
    logit_bias: isEmptyObject,
    audio: nothing,
    moderation: nothing,
    prediction: nothing,
    functions: isEmptyList,
    function_call: oneOf("auto", "none"),
    web_search_options: nothing,
    plugins: onlyAutoRouter,
    transforms: isEmptyList,
    route: oneOf("fallback"),
    top_a: oneOf(0)
  })
)

/** Fields that are decoded elsewhere than in the request's schema. */
const known = new Set([...harmless.keys(), "provider"])

export const unsupported = (param: string, detail: string): Failure =>
  failure({ _tag: "UnsupportedParameter", param, detail })

/** An unsupported member of a part or a tool, and the explanation. */
type Unsupported = readonly [member: string, detail: string]

const inPart = (part: Body): Unsupported | undefined => {
  const { type } = part
  const file = type === "file" ? objectOf(part["file"]) : undefined
  if (file?.["file_id"] != null) return ["file.file_id", "Only inline files are supported"]
  const inline = typeof file?.["file_data"] === "string"
  if (type === "input_audio" || type === "video_url" || (type === "file" && !inline)) {
    return ["type", `Content parts of type ${type} are not supported`]
  }
  return undefined
}

const inTool = (tool: Body): Unsupported | undefined =>
  typeof tool["type"] === "string" && tool["type"] !== "function"
    ? ["type", "Only tools of type function are supported"]
    : undefined

const firstIn = (list: unknown, at: string, find: (entry: Body) => Unsupported | undefined): Failure | undefined => {
  if (!Array.isArray(list)) return undefined
  for (let index = 0; index < list.length; index++) {
    const entry = objectOf(list[index])
    const found = entry === undefined ? undefined : find(entry)
    if (found !== undefined) return unsupported(`${at}.${index}.${found[0]}`, found[1])
  }
  return undefined
}

/** Members of an earlier answer that replace its content. */
const inMessage = (message: Body): Unsupported | undefined => {
  const member = ["audio", "function_call"].find((name) => message[name] != null)
  return member === undefined ? undefined : [member, `Messages with ${member} are not supported`]
}

const inMessages = (messages: unknown): Failure | undefined => {
  if (!Array.isArray(messages)) return undefined
  const said = firstIn(messages, "messages", inMessage)
  if (said !== undefined) return said
  for (let index = 0; index < messages.length; index++) {
    const found = firstIn(objectOf(messages[index])?.["content"], `messages.${index}.content`, inPart)
    if (found !== undefined) return found
  }
  return undefined
}

/** The error for the first tool that is not a function of the caller's. */
export const unsupportedTool = (tools: unknown): Failure | undefined => firstIn(tools, "tools", inTool)

/** The error for the first field that cannot be ignored. */
export const unsupportedMember = (body: Body, harmless: Harmless): Failure | undefined => {
  for (const name of Object.keys(body)) {
    const value = body[name]
    if (value !== undefined && value !== null && harmless.get(name)?.(value) === false) {
      return unsupported(name, `This value of ${name} is not supported`)
    }
  }
  return undefined
}

/** The error for the first unsupported field that would change the answer. */
export const firstUnsupported = (body: Body): Failure | undefined =>
  unsupportedMember(body, harmless) ?? inMessages(body["messages"]) ?? unsupportedTool(body["tools"])

/** Unknown fields, which are ignored and reported. */
export const ignoredMembers = (
  body: Body,
  fields: ReadonlySet<string>,
  others: ReadonlySet<string> = known
): ReadonlyArray<string> => Object.keys(body).filter((name) => !fields.has(name) && !others.has(name))

/** A request without the fields that are decoded elsewhere than in its schema. */
export const withoutForeign = (body: Body): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !known.has(name)))
