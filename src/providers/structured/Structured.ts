/** Enforces the requested output schema for models that do not guarantee it themselves. */
import { Clock, Effect } from "effect"
import { wholeSource } from "../wire/EventSource.ts"
import type { Conversation, Message } from "../../domain/Conversation.ts"
import type { Capability } from "../../domain/Model.ts"
import { isRecursive } from "../../domain/SchemaRefs.ts"
import { eventsOf, isEmpty, type Output } from "../../domain/Output.ts"
import type { Candidate } from "../../domain/Plan.ts"
import type { ChatCall, ChatSource, Provider } from "../Provider.ts"
import { ProviderError, type ProviderFault } from "../ProviderError.ts"
import { type JsonObject, objectOf } from "../wire/Json.ts"
import type { Check } from "./StructuredCheck.ts"
import { MAX_OFF_A_MINUTE, type SchemaBlock, StructuredMemory } from "./StructuredMemory.ts"

const can = ({ model, offer }: Candidate, capability: Capability): boolean =>
  model.capabilities.includes(capability) && !offer.unsupported.includes(capability)

/** Whether a candidate guarantees a schema for its answers and for the arguments of its tool calls. */
export const isStructured = (candidate: Candidate): boolean => can(candidate, "structured_outputs")

const anyObject: JsonObject = { type: "object" }

const valuesOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : Object.values(objectOf(value) ?? {})

/** Keywords with values that are schemas by name, or lists of schemas. */
const WITH_SCHEMAS = ["properties", "$defs", "definitions", "anyOf", "oneOf", "allOf", "prefixItems"]

/** Whether an object in a schema may have members that the model names freely. */
const hasMap = (value: unknown): boolean => {
  const schema = objectOf(value)
  if (schema === undefined) return false
  const { additionalProperties: others, items, patternProperties, properties, type } = schema
  const isObject = type === "object" || (Array.isArray(type) && type.includes("object"))
  const namesNone = isObject && valuesOf(properties).length === 0 && others !== false
  if (namesNone || objectOf(others) !== undefined || patternProperties !== undefined) return true
  return [items, ...WITH_SCHEMAS.flatMap((name) => valuesOf(schema[name]))].some(hasMap)
}

/**
 * Whether Claude's hosts can keep an answer to a schema. They close every object, so an object whose members the model should name
 * would have none, and they reject a schema that contains itself.
 */
export const fitsClaude = (schema: JsonObject): boolean => !hasMap(schema) && !isRecursive(schema)

const canKeepTo = ({ model }: Candidate, schema: JsonObject | undefined): boolean =>
  model.vendor !== "anthropic" || schema === undefined || fitsClaude(schema)

/** Gemini's second generation rejects a JSON response format together with functions. */
const takesForm = ({ offer }: Candidate, { tools }: Pick<Conversation, "tools">): boolean =>
  tools.length === 0 || !/^gemini-[12][.-]/.test(offer.upstreamId)

/** The schema with which this candidate's answers must be checked, because it does not guarantee the format itself. */
export const enforcedSchema = (
  conversation: Pick<Conversation, "format" | "tools">,
  candidate: Candidate
): JsonObject | undefined => {
  const { format } = conversation
  const takes = takesForm(candidate, conversation)
  switch (format.type) {
    case "text":
      return undefined
    case "json_object":
      return takes && can(candidate, "json_mode") ? undefined : anyObject
    case "json_schema": {
      const keeps = takes && isStructured(candidate) && canKeepTo(candidate, format.schema)
      return keeps ? undefined : (format.schema ?? anyObject)
    }
  }
}

/** The instruction for a model that takes no schema. `domain/Tokens.ts` depends on its length. */
const wordsFor = (schema: JsonObject): string =>
  schema === anyObject
    ? "Answer with one JSON object and with nothing else: no code fence, no words before or after it."
    : `Answer with one JSON value that meets the following JSON Schema, and with nothing else: no code fence, no words before or after it.\n${JSON.stringify(schema)}`

/**
 * Requests the format in words, and in JSON mode where the model supports it for objects. JSON mode produces only objects, and at some
 * hosts keeps a model from calling tools. The words are added to the instructions at the start: the templates of some models accept
 * only one instruction message, in first place.
 */
export const inWords = (conversation: Conversation, candidate: Candidate, schema: JsonObject): Conversation => {
  const calls = conversation.tools.length > 0 && conversation.toolChoice.type !== "none"
  const json =
    schema["type"] === "object" && !calls && takesForm(candidate, conversation) && can(candidate, "json_mode")
  return {
    ...conversation,
    messages: withInstruction(conversation.messages, wordsFor(schema)),
    format: { type: json ? "json_object" : "text" }
  }
}

const withInstruction = (messages: ReadonlyArray<Message>, words: string): ReadonlyArray<Message> => {
  const spoken = messages.findIndex(({ role }) => role !== "system")
  const count = spoken === -1 ? messages.length : spoken
  const last = messages[count - 1]
  if (last?.role !== "system") return [{ role: "system", content: [{ type: "text", text: words }] }, ...messages]
  const part = last.content.at(-1)
  // Text that ends in a cache breakpoint stays unchanged. Otherwise the cache would keep it for this format only.
  const content =
    part === undefined || part.cacheBreakpoint === true
      ? [...last.content, { type: "text" as const, text: words }]
      : [...last.content.slice(0, -1), { ...part, text: `${part.text}\n\n${words}` }]
  return [...messages.slice(0, count - 1), { role: "system", content }, ...messages.slice(count)]
}

/**
 * Whether an output is exempt from the format, even for models that guarantee it: tool calls, refusals, truncated answers, empty
 * answers.
 */
const isOther = (output: Output): boolean =>
  output.toolCalls.length > 0 ||
  output.refusal !== "" ||
  (output.finish !== undefined && output.finish !== "stop") ||
  output.stopSequence !== undefined ||
  isEmpty(output)

const fieldOf = ({ conversation: { format } }: ChatCall): string =>
  (format.type === "json_schema" ? format.field : undefined) ?? "response_format"

const blockFault = (call: ChatCall, { detail, retryAfterSeconds }: SchemaBlock): ProviderFault => ({
  _tag: "SchemaRefused",
  field: fieldOf(call),
  detail,
  ...(retryAfterSeconds === undefined ? { passing: true } : { limit: { limit: MAX_OFF_A_MINUTE, retryAfterSeconds } })
})

/**
 * Wraps a provider so that its answers have the requested format when the candidate does not guarantee it. The format is requested in
 * words; the answer is collected and checked. A valid answer is returned as its JSON only, without code fences and words around it. An
 * invalid one is a fault and is remembered: a schema that answers fail repeatedly is not requested any more. A stream delivers
 * everything at once, after the check, so that another provider can still be tried. Its time limits are those of a complete answer.
 */
export const enforceFormat = (
  provider: Provider,
  check: Check,
  memory: StructuredMemory = new StructuredMemory()
): Provider => {
  const failing = (fault: ProviderFault, arrived?: Output) =>
    Effect.fail(new ProviderError({ provider: provider.id, fault, ...(arrived === undefined ? {} : { arrived }) }))
  const answer = Effect.fnUntraced(function* (call: ChatCall, schema: JsonObject) {
    const { accountId = "" } = call
    const clock = yield* Clock.Clock
    const now = () => clock.currentTimeMillisUnsafe()
    const key = memory.keyOf(accountId, schema)
    const block = memory.blockOf(key, now())
    if (block !== undefined) return yield* failing(blockFault(call, block))
    if (!memory.isFit(key, now())) {
      // An answer that can never be checked is not worth requesting.
      const fit = yield* check({ schema, text: undefined, accountId })
      if (fit._tag === "Unchecked" && fit.busy === true)
        return yield* failing({ _tag: "OffSchema", detail: fit.detail })
      if (fit._tag === "Unchecked") memory.tooHard(key, fit.detail, now())
      if (fit._tag !== "Meets") {
        const passing = fit._tag === "Unchecked" ? ({ passing: true } as const) : {}
        return yield* failing({ _tag: "SchemaRefused", field: fieldOf(call), detail: fit.detail, ...passing })
      }
      memory.fit(key, now())
    }
    const output = yield* provider.chat(instructedCall(provider, call, schema))
    if (isOther(output)) return output
    const verdict = yield* check({ schema, text: output.text, accountId })
    if (verdict._tag === "Meets") {
      memory.met(key, now())
      // The probabilities of tokens that are not returned refer to nothing.
      return verdict.json === output.text ? output : { ...output, text: verdict.json, logprobs: undefined }
    }
    const busy = verdict._tag === "Unchecked" && verdict.busy === true
    if (!busy) memory.failed(key, now())
    if (verdict._tag !== "Fails" && !busy) memory.tooHard(key, verdict.detail, now())
    return yield* failing({ _tag: "OffSchema", detail: verdict.detail }, output)
  })
  const schemaOf = ({ candidate, conversation }: ChatCall) => enforcedSchema(conversation, candidate)
  return {
    ...provider,
    chat: (call) => {
      const schema = schemaOf(call)
      return schema === undefined ? provider.chat(call) : answer(call, schema)
    },
    chatStream: (call) => {
      const schema = schemaOf(call)
      return schema === undefined ? provider.chatStream(call) : Effect.map(answer(call, schema), collected)
    }
  }
}

/** The sandbox's double builds its answer from the schema itself. */
const instructedCall = (provider: Provider, call: ChatCall, schema: JsonObject): ChatCall =>
  provider.steerable === true ? call : { ...call, conversation: inWords(call.conversation, call.candidate, schema) }

const collected = (output: Output): ChatSource => ({ collected: true, ...wholeSource(eventsOf(output)) })
