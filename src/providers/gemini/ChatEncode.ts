import type {
  AssistantMessage,
  Conversation,
  ImagePart,
  Message,
  Part,
  PdfPart,
  Reasoning,
  ToolCall,
  ToolResult
} from "../../domain/Conversation.ts"
import { inlineImage } from "../../domain/ImageType.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { ownReasoning } from "../../domain/Reasoning.ts"
import { isShort } from "../../domain/ExactJson.ts"
import { objectOf, parsedWithin } from "../wire/Json.ts"
import type { ChatCall } from "../Provider.ts"
import { effortOfTokens, isReasoningOff } from "../wire/ReasoningOptions.ts"
import { stopSequencesOf } from "../wire/StopSequences.ts"
import { WORDLESS_FAILURE } from "../wire/ToolFailure.ts"
import { answerSchema, argumentsSchema } from "./Schema.ts"

/** Encodes a chat call as the JSON of `generateContent`, streamed or not. Thoughts count towards `maxOutputTokens`. */
export const encodeChat = ({ candidate, conversation, maxOutputTokens }: ChatCall): string =>
  JSON.stringify({
    ...encodeMessages(conversation.messages, candidate),
    ...encodeTools(conversation),
    generationConfig: {
      maxOutputTokens,
      ...encodeSampling(conversation),
      ...encodeFormat(conversation),
      thinkingConfig: encodeThinking(conversation.reasoning, candidate, maxOutputTokens)
    }
  })

interface Turn {
  readonly role: "user" | "model"
  /** Results of calls in the turn before. */
  readonly results: Array<object>
  readonly parts: Array<object>
}

type Content = Pick<Turn, "role" | "parts">

/** Replaces an empty conversation, and completes one that the user does not begin or end, because the host rejects both. */
const PLACEHOLDER: Content = { role: "user", parts: [{ text: "." }] }

/** This wire format has one instruction beside the turns, so all system messages go there. */
const encodeMessages = (messages: ReadonlyArray<Message>, candidate: Candidate): object => {
  const parts = messages.flatMap((message) => (message.role === "system" ? encodeParts(message.content) : []))
  const contents = encodeTurns(messages, candidate)
  // The host rejects a request that contains only instructions.
  if (contents.length === 0 && parts.length > 0) return { contents: [{ role: "user", parts }] }
  const begun = contents[0]?.role === "user" ? contents : [PLACEHOLDER, ...contents]
  // The model must not continue its own text when an instruction follows it.
  const ended = messages.at(-1)?.role === "system" && begun.at(-1)?.role === "model" ? [...begun, PLACEHOLDER] : begun
  return { systemInstruction: parts.length === 0 ? undefined : { parts }, contents: ended }
}

/**
 * Consecutive messages of one side form one turn. Tool results, with their images, come in a content of their own before the rest of
 * their turn: models since 3.6 reject a content with both, and older ones may break off at it.
 */
const encodeTurns = (messages: ReadonlyArray<Message>, candidate: Candidate): ReadonlyArray<Content> => {
  const turns: Array<Turn> = []
  const names = new Map<string, string>()
  const turnOf = (role: Turn["role"]): Turn => {
    const last = turns.at(-1)
    if (last?.role === role) return last
    const turn: Turn = { role, results: [], parts: [] }
    turns.push(turn)
    return turn
  }
  const add = (role: Turn["role"], parts: ReadonlyArray<object>) => {
    if (parts.length > 0) turnOf(role).parts.push(...parts)
  }
  for (const message of messages) {
    switch (message.role) {
      case "system":
        break
      case "user":
        add("user", encodeParts(message.content))
        break
      case "assistant":
        for (const { id, name } of message.toolCalls) names.set(id, name)
        add("model", encodeSaid(message, candidate))
        break
      case "tool": {
        const { content, toolCallId } = message
        turnOf("user").results.push(encodeResult(message, names.get(toolCallId) ?? toolCallId))
        add("user", encodeParts(content.filter((part) => part.type !== "text")))
      }
    }
  }
  return turns.flatMap(({ parts, results, role }) =>
    [results, parts].filter((list) => list.length > 0).map((list) => ({ role, parts: list }))
  )
}

/** The host rejects empty parts. */
const encodeParts = (content: ReadonlyArray<Part>): ReadonlyArray<object> =>
  content.flatMap((part) => {
    if (part.type === "image") return [encodeImage(part)]
    if (part.type === "pdf") return encodePdf(part)
    return part.text === "" ? [] : [{ text: part.text }]
  })

/** The placeholder that Google documents for calls in a history without thought signatures. */
const NO_SIGNATURE = "skip_thought_signature_validator"

interface Signatures {
  /** Signatures by the call they arrived on. */
  readonly ofCalls: ReadonlyMap<string, string>
  /** The signature of the last text. */
  readonly ofText: string | undefined
}

/** The signatures in a message that this model produced. */
const signaturesOf = (message: AssistantMessage, candidate: Candidate): Signatures => {
  const ofCalls = new Map<string, string>()
  let ofText: string | undefined
  for (const { data } of ownReasoning(message, candidate)) {
    const { call, signature } = data
    if (typeof signature !== "string") continue
    if (typeof call === "string") ofCalls.set(call, signature)
    else ofText = signature
  }
  return { ofCalls, ofText }
}

/**
 * The model's text and calls. When calls were made together, the first has the signature. Models since the third generation reject
 * calls without any.
 */
const encodeSaid = (message: AssistantMessage, candidate: Candidate): ReadonlyArray<object> => {
  const { ofCalls, ofText } = signaturesOf(message, candidate)
  const { content, toolCalls } = message
  const signed = toolCalls.some(({ id }) => ofCalls.has(id))
  const instead = !signed && takesLevels(candidate.offer.upstreamId) ? NO_SIGNATURE : undefined
  const last = content.findLast(({ text }) => text !== "")
  return [
    ...content.flatMap((part) =>
      part.text === "" ? [] : [{ text: part.text, thoughtSignature: part === last ? ofText : undefined }]
    ),
    ...toolCalls.map((call) => encodeCall(call, ofCalls.get(call.id) ?? instead))
  ]
}

/** Arguments that are not an object are passed on unchanged. */
const encodeCall = ({ id, name, arguments: text }: ToolCall, thoughtSignature: string | undefined): object => {
  const args = objectOf(parsedWithin(text)) ?? (text.trim() === "" ? {} : { arguments: text })
  return { functionCall: { id, name, args }, thoughtSignature }
}

/** A `$ref` member in the text of a JSON value. */
const REFERENCE = /"(?:\$|\\u0024)ref"\s*:/i

/** A result is an object on this wire. A failed one has its error in the member `error`. */
const encodeResult = ({ content, isError, toolCallId: id }: ToolResult, name: string): object => {
  const result = content.map((part) => (part.type === "text" ? part.text : "")).join("")
  const value = objectOf(parsedWithin(result))
  // The host rounds numbers, except inside a text, and takes a `$ref` for a reference to another part of the content, which does not
  // exist.
  const structured = value !== undefined && isShort(result) && !REFERENCE.test(result) ? value : undefined
  const response = isError === true ? { error: structured ?? (result || WORDLESS_FAILURE) } : (structured ?? { result })
  return { functionResponse: { id, name, response } }
}

const encodeImage = ({ url }: ImagePart): object => {
  const { data, type } = inlineImage(url)
  return { inlineData: { mimeType: type, data } }
}

/** This wire format has no field for a file's name, so the name precedes the file as text. */
const encodePdf = ({ context, data, name }: PdfPart): ReadonlyArray<object> => [
  ...[name, context].flatMap((text) => (text === undefined ? [] : [{ text }])),
  { inlineData: { mimeType: "application/pdf", data } }
]

const encodeTools = ({ tools, toolChoice }: Conversation): object => {
  if (tools.length === 0) return {}
  const declarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters && argumentsSchema(parameters)
  }))
  const functionCallingConfig =
    toolChoice.type === "tool"
      ? { mode: "ANY", allowedFunctionNames: [toolChoice.name] }
      : { mode: { auto: "AUTO", none: "NONE", required: "ANY" }[toolChoice.type] }
  return { tools: [{ functionDeclarations: declarations }], toolConfig: { functionCallingConfig } }
}

const encodeFormat = ({ format }: Conversation): object => {
  if (format.type === "text") return {}
  const responseMimeType = "application/json"
  if (format.type === "json_object") return { responseMimeType }
  return { responseMimeType, responseJsonSchema: format.schema && answerSchema(format.schema) }
}

/** Omits the penalties, because models since 2.5 answer them with an error. */
const encodeSampling = ({ sampling }: Conversation): object => ({
  temperature: sampling.temperature,
  topP: sampling.topP,
  topK: sampling.topK,
  // The host accepts 32 bits. Of a longer seed, the lowest bits are used.
  seed: sampling.seed === undefined ? undefined : sampling.seed | 0,
  stopSequences: stopSequencesOf(sampling),
  // Models without log-probabilities reject these fields, whatever their value.
  ...(sampling.logprobs === true ? { responseLogprobs: true, logprobs: sampling.topLogprobs } : {})
})

/**
 * Only for models that reason, because the host rejects the field for others. Thoughts are included in the answer unless the caller
 * excludes them.
 */
const encodeThinking = (
  reasoning: Reasoning | undefined,
  { model, offer }: Candidate,
  maxOutputTokens: number
): object | undefined => {
  const able = model.capabilities.includes("reasoning") && !offer.unsupported.includes("reasoning")
  if (reasoning === undefined || !able) return undefined
  const { effort, maxTokens } = reasoning
  const off = isReasoningOff(reasoning)
  const ofTokens = maxTokens === undefined ? undefined : effortOfTokens(maxTokens)
  const how = takesLevels(offer.upstreamId)
    ? { thinkingLevel: levelOf(off ? "none" : (effort ?? ofTokens), offer.upstreamId) }
    : {
        thinkingBudget: budgetOf(off ? 0 : (maxTokens ?? BUDGETS[effort ?? "auto"]), offer.upstreamId, maxOutputTokens)
      }
  return off ? how : { ...how, includeThoughts: true }
}

/** Thinking levels and thought signatures came with the third generation. A name without a version number means a later one. */
const takesLevels = (model: string): boolean => /^gemini-(?![12](?:[.-]|$))/.test(model)

/** These models cannot turn thinking off; some have no level below `low`. */
const levelOf = (effort: Effort | undefined, model: string): string | undefined => {
  switch (effort) {
    case undefined:
      return undefined
    case "none":
    case "minimal":
      return /^gemini-3(?:\.[0-6])?-flash|-flash-lite/.test(model) ? "MINIMAL" : "LOW"
    case "low":
      return "LOW"
    case "medium":
      return "MEDIUM"
    case "high":
    case "xhigh":
      return "HIGH"
  }
}

type Effort = NonNullable<Reasoning["effort"]>

/** The token budget of each effort at Google's own OpenAI-compatible endpoint. `auto` leaves it to the model. */
const BUDGETS: Readonly<Record<Effort | "auto", number>> = {
  auto: -1,
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768
}

/**
 * The nearest budget that a second-generation model accepts, within the output cap, of which a twentieth remains for the answer. Pro
 * cannot turn thinking off.
 */
const budgetOf = (wanted: number, model: string, maxOutputTokens: number): number => {
  const pro = model.includes("-pro")
  if (wanted < 0 || (wanted === 0 && !pro)) return wanted
  const least = pro ? 128 : model.includes("-flash-lite") ? 512 : 1
  return Math.max(least, Math.min(wanted, pro ? 32_768 : 24_576, Math.floor(maxOutputTokens * 0.95)))
}
