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
export const anything = () => true
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
    prediction: nothing,
    functions: isEmptyList,
    function_call: oneOf("auto", "none"),
    web_search_options: nothing,
    verbosity: oneOf("medium"),
    plugins: onlyAutoRouter,
    transforms: isEmptyList,
    route: oneOf("fallback"),
    top_a: oneOf(0),
    prompt_cache_key: anything,
    prompt_cache_retention: anything,
    safety_identifier: anything
  })
)

/** Members that are decoded elsewhere than by the request's schema. */
const known = new Set([...harmless.keys(), "provider"])

export const unsupported = (param: string, detail: string): Failure =>
  failure({ _tag: "UnsupportedParameter", param, detail })

const unsupportedPart = (messages: unknown): Failure | undefined => {
  if (!Array.isArray(messages)) return undefined
  for (let index = 0; index < messages.length; index++) {
    const content = objectOf(messages[index])?.["content"]
    if (!Array.isArray(content)) continue
    for (let part = 0; part < content.length; part++) {
      const type = objectOf(content[part])?.["type"]
      if (type === "input_audio" || type === "file" || type === "video_url") {
        return unsupported(`messages.${index}.content.${part}.type`, `Content parts of type ${type} are not offered`)
      }
    }
  }
  return undefined
}

/** The first tool that is none of the caller's own functions. */
export const unsupportedTool = (tools: unknown): Failure | undefined => {
  if (!Array.isArray(tools)) return undefined
  const index = tools.findIndex((tool) => {
    const type = objectOf(tool)?.["type"]
    return typeof type === "string" && type !== "function"
  })
  return index === -1 ? undefined : unsupported(`tools.${index}.type`, "Only tools of type function are offered")
}

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
  unsupportedMember(body, harmless) ?? unsupportedPart(body["messages"]) ?? unsupportedTool(body["tools"])

/** Members nobody knows; they are ignored, and said to be. */
export const ignoredMembers = (
  body: Body,
  fields: ReadonlySet<string>,
  others: ReadonlySet<string> = known
): ReadonlyArray<string> => Object.keys(body).filter((name) => !fields.has(name) && !others.has(name))

/** A request without the members that are decoded elsewhere than by its schema. */
export const withoutForeign = (body: Body): Body =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !known.has(name)))
