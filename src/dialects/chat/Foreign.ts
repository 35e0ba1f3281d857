/** Members of OpenAI's and OpenRouter's chat request that this service knows of and does not offer. */
import { type Failure, failure } from "../../domain/Failure.ts"
import { objectOf } from "../Decode.ts"

/** The plugin of OpenRouter's that chooses a model. */
export const AUTO_ROUTER = "auto-router"

type Body = Readonly<Record<string, unknown>>

const isEmptyObject = (value: unknown) => objectOf(value) !== undefined && Object.keys(objectOf(value)!).length === 0
export const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0
export const oneOf =
  (...values: ReadonlyArray<unknown>) =>
  (value: unknown) =>
    values.includes(value)
export const nothing = () => false

/** Whether plugins are none but the one that chooses a model, which is not foreign here. */
export const onlyAutoRouter = (value: unknown) =>
  Array.isArray(value) && value.every((entry) => objectOf(entry)?.["id"] === AUTO_ROUTER)

/** By member: whether a value asks for nothing that we would leave undone. A null always does. */
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

/** Members that are decoded elsewhere than by the request's schema. */
const known = new Set([...harmless.keys(), "provider"])

export const unsupported = (param: string, detail: string): Failure =>
  failure({ _tag: "UnsupportedParameter", param, detail })

/** What of a part or a tool is not offered, and where in it. */
type Unsupported = readonly [member: string, detail: string]

const inPart = (part: Body): Unsupported | undefined => {
  const { type } = part
  const file = type === "file" ? objectOf(part["file"]) : undefined
  if (file?.["file_id"] != null) return ["file.file_id", "Only files sent inline are offered"]
  const inline = typeof file?.["file_data"] === "string"
  if (type === "input_audio" || type === "video_url" || (type === "file" && !inline)) {
    return ["type", `Content parts of type ${type} are not offered`]
  }
  return undefined
}

const inTool = (tool: Body): Unsupported | undefined =>
  typeof tool["type"] === "string" && tool["type"] !== "function"
    ? ["type", "Only tools of type function are offered"]
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

/** Of an earlier answer what stood in the place of its content. */
const inMessage = (message: Body): Unsupported | undefined => {
  const member = ["audio", "function_call"].find((name) => message[name] != null)
  return member === undefined ? undefined : [member, `Messages with ${member} are not offered`]
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

/** The first tool that is none of the caller's own functions. */
export const unsupportedTool = (tools: unknown): Failure | undefined => firstIn(tools, "tools", inTool)

/** The first member that is not harmless. */
export const unsupportedMember = (body: Body, harmless: Harmless): Failure | undefined => {
  for (const name of Object.keys(body)) {
    const value = body[name]
    if (value !== undefined && value !== null && harmless.get(name)?.(value) === false) {
      return unsupported(name, `This value of ${name} is not offered`)
    }
  }
  return undefined
}

/** The first member that would change the answer and is not offered. */
export const firstUnsupported = (body: Body): Failure | undefined =>
  unsupportedMember(body, harmless) ?? inMessages(body["messages"]) ?? unsupportedTool(body["tools"])

/** Members nobody knows; they are ignored, and said to be. */
export const ignoredMembers = (
  body: Body,
  fields: ReadonlySet<string>,
  others: ReadonlySet<string> = known
): ReadonlyArray<string> => Object.keys(body).filter((name) => !fields.has(name) && !others.has(name))

/** A request without the members that are decoded elsewhere than by its schema. */
export const withoutForeign = (body: Body): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !known.has(name)))
