import type {
  AssistantMessage,
  Conversation,
  ImagePart,
  Message,
  Part,
  Reasoning,
  ToolCall,
  ToolResult
} from "../../domain/Conversation.ts"
import { inlineImage } from "../../domain/ImageType.ts"
import type { Candidate } from "../../domain/Plan.ts"
import { ownReasoning } from "../../domain/Reasoning.ts"
import { isShort } from "../../domain/ExactJson.ts"
import { objectOf, parsed, parsedExact } from "../Json.ts"
import type { ChatCall } from "../Provider.ts"
import { saidStops } from "../StopSequences.ts"
import { WORDLESS_FAILURE } from "../ToolFailure.ts"

/** A chat call as the JSON text of a `generateContent`, streamed or not. Thoughts count towards `maxOutputTokens`. */
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
  /** Of calls in the turn before. */
  readonly results: Array<object>
  readonly parts: Array<object>
}

type Content = Pick<Turn, "role" | "parts">

/** What the host refuses as a conversation that says nothing, or that the user does not begin or end, has this for it. */
const PLACEHOLDER: Content = { role: "user", parts: [{ text: "." }] }

/** This wire has one instruction beside the turns, so every system message goes there, wherever it stood. */
const encodeMessages = (messages: ReadonlyArray<Message>, candidate: Candidate): object => {
  const parts = messages.flatMap((message) => (message.role === "system" ? encodeParts(message.content) : []))
  const contents = encodeTurns(messages, candidate)
  // A request of instructions alone is refused.
  if (contents.length === 0 && parts.length > 0) return { contents: [{ role: "user", parts }] }
  const begun = contents[0]?.role === "user" ? contents : [PLACEHOLDER, ...contents]
  // It is not the model's words that it is to go on with.
  const ended = messages.at(-1)?.role === "system" && begun.at(-1)?.role === "model" ? [...begun, PLACEHOLDER] : begun
  return { systemInstruction: parts.length === 0 ? undefined : { parts }, contents: ended }
}

/**
 * Messages of one side that follow one another are one turn. Results of calls stand by themselves before all else of their turn,
 * their images too: models since 3.6 refuse a content with both, and older ones may break off at it.
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
        add("user", encodeParts(content.filter((part) => part.type === "image")))
      }
    }
  }
  return turns.flatMap(({ parts, results, role }) =>
    [results, parts].filter((list) => list.length > 0).map((list) => ({ role, parts: list }))
  )
}

/** Parts with nothing in them are refused. */
const encodeParts = (content: ReadonlyArray<Part>): ReadonlyArray<object> =>
  content.flatMap((part) => {
    if (part.type === "image") return [encodeImage(part)]
    return part.text === "" ? [] : [{ text: part.text }]
  })

/** What Google documents for calls in a history that comes without the signatures of the thoughts that led to them. */
const NO_SIGNATURE = "skip_thought_signature_validator"

interface Signatures {
  /** By the call it came on. */
  readonly ofCalls: ReadonlyMap<string, string>
  /** That of the last text. */
  readonly ofText: string | undefined
}

/** The signatures that this model gave in a message. */
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
 * What the model said and called. Of calls that were made together the first has a signature; models since the third generation
 * refuse calls of which none has one.
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

/** Arguments that are no object go along as they are. */
const encodeCall = ({ id, name, arguments: text }: ToolCall, thoughtSignature: string | undefined): object => {
  const args = objectOf(parsedExact(text)) ?? (text.trim() === "" ? {} : { arguments: text })
  return { functionCall: { id, name, args }, thoughtSignature }
}

/** A member `$ref` in the text of a JSON value. */
const REFERENCE = /"(?:\$|\\u0024)ref"\s*:/i

/** A result is an object on this wire; of one that failed it has the failure in a member of this name. */
const encodeResult = ({ content, isError, toolCallId: id }: ToolResult, name: string): object => {
  const result = content.map((part) => (part.type === "text" ? part.text : "")).join("")
  const value = objectOf(parsed(result))
  // Numbers are rounded there, but not those in a text; and a `$ref` is taken for a part of the content, which there is not.
  const said = value !== undefined && isShort(result) && !REFERENCE.test(result) ? value : undefined
  const response = isError === true ? { error: said ?? (result || WORDLESS_FAILURE) } : (said ?? { result })
  return { functionResponse: { id, name, response } }
}

const encodeImage = ({ url }: ImagePart): object => {
  const { data, type } = inlineImage(url)
  return { inlineData: { mimeType: type, data } }
}

const encodeTools = ({ tools, toolChoice }: Conversation): object => {
  if (tools.length === 0) return {}
  const declarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters
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
  return format.type === "json_object" ? { responseMimeType } : { responseMimeType, responseJsonSchema: format.schema }
}

/** Without the penalties, which models since 2.5 answer with an error. */
const encodeSampling = ({ sampling }: Conversation): object => ({
  temperature: sampling.temperature,
  topP: sampling.topP,
  topK: sampling.topK,
  // 32 bits are all that is taken; of a longer seed they are the lowest.
  seed: sampling.seed === undefined ? undefined : sampling.seed | 0,
  stopSequences: saidStops(sampling),
  // Models without them refuse the members, whatever they say.
  ...(sampling.logprobs === true ? { responseLogprobs: true, logprobs: sampling.topLogprobs } : {})
})

/** Only for models that reason: the host refuses the member for the others. Thoughts come with the answer unless unwanted. */
const encodeThinking = (
  reasoning: Reasoning | undefined,
  { model, offer }: Candidate,
  maxOutputTokens: number
): object | undefined => {
  const able = model.capabilities.includes("reasoning") && !offer.unsupported.includes("reasoning")
  if (reasoning === undefined || !able) return undefined
  const { effort, enabled, maxTokens } = reasoning
  const off = enabled === false || effort === "none" || maxTokens === 0
  const how = takesLevels(offer.upstreamId)
    ? { thinkingLevel: levelOf(off ? "none" : (effort ?? effortOf(maxTokens)), offer.upstreamId) }
    : {
        thinkingBudget: budgetOf(off ? 0 : (maxTokens ?? BUDGETS[effort ?? "auto"]), offer.upstreamId, maxOutputTokens)
      }
  return off ? how : { ...how, includeThoughts: true }
}

/** Levels of thinking, and signatures of thoughts, came with the third generation; names without a number mean a later one. */
const takesLevels = (model: string): boolean => /^gemini-(?![12](?:[.-]|$))/.test(model)

/** No model of these can be told not to think; some have no level below the low one. */
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

/** The level that spends about as many tokens, for models that take no budget. */
const effortOf = (maxTokens: number | undefined): Effort | undefined => {
  if (maxTokens === undefined) return undefined
  return maxTokens <= 2_048 ? "low" : maxTokens <= 8_192 ? "medium" : "high"
}

/** Tokens for an effort as Google's own OpenAI-compatible endpoint has them; `auto` leaves it to the model. */
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
 * The nearest budget that a model of the second generation takes, within the cap, a twentieth of which stays for the answer; Pro
 * cannot be told not to think.
 */
const budgetOf = (wanted: number, model: string, maxOutputTokens: number): number => {
  const pro = model.includes("-pro")
  if (wanted < 0 || (wanted === 0 && !pro)) return wanted
  const least = pro ? 128 : model.includes("-flash-lite") ? 512 : 1
  return Math.max(least, Math.min(wanted, pro ? 32_768 : 24_576, Math.floor(maxOutputTokens * 0.95)))
}
