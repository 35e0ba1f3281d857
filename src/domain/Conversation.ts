/** The canonical chat request. Every dialect decodes into it, and every provider adapter encodes from it. */
export interface Conversation {
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<Tool>
  readonly toolChoice: ToolChoice
  readonly parallelToolCalls: boolean | undefined
  readonly format: OutputFormat
  readonly sampling: Sampling
  readonly reasoning: Reasoning | undefined
  /** The caller's own cap on output tokens; absent when the service chooses one. */
  readonly maxOutputTokens: number | undefined
  /** Opaque identity of the caller's end user, forwarded where the provider takes one. */
  readonly user: string | undefined
  /** A hint for a provider's cache: requests with the same value have much of their prompt in common. */
  readonly cacheKey?: string
  /** How long the breakpoints last that the service sets for the caller; five minutes when absent. */
  readonly cacheTtl?: "1h"
  /** Values of the caller's `anthropic-beta`, for Anthropic's own API. */
  readonly betas?: ReadonlyArray<string>
  /** The edits that remove parts of the prompt before the model reads it. */
  readonly contextEdits?: ReadonlyArray<ContextEdit>
}

/** One edit of the prompt, as Anthropic's API has it. */
export interface ContextEdit {
  readonly kind: "clear_tool_uses" | "clear_thinking" | "compact"
  /** As the caller sent it. */
  readonly wire: Readonly<Record<string, unknown>>
}

/** A part of the request that can carry a breakpoint of the provider's prompt cache. */
export interface Cacheable {
  /** The provider should cache the prompt up to and including this part. Providers that choose for themselves do not get it. */
  readonly cacheBreakpoint?: true
  /** How long the breakpoint lasts; five minutes when absent. */
  readonly cacheTtl?: "1h"
  /** How widely Anthropic shares what the breakpoint keeps. */
  readonly cacheScope?: string
}

/** The name of the speaker among several in the same role, for hosts that accept it. */
interface SpeakerName {
  readonly name?: string
}

export type Message =
  | ({ readonly role: "system"; readonly content: ReadonlyArray<TextPart> } & SpeakerName)
  | ({ readonly role: "user"; readonly content: ReadonlyArray<Part> } & SpeakerName)
  | ({
      readonly role: "assistant"
      readonly content: ReadonlyArray<TextPart>
      readonly toolCalls: ReadonlyArray<ToolCall>
      /** What the model thought before and between what it said, in its order. */
      readonly reasoning?: ReadonlyArray<ReasoningPart>
    } & SpeakerName)
  | ToolResult

export type AssistantMessage = Extract<Message, { readonly role: "assistant" }>

/** What a tool answered to a call. */
export interface ToolResult extends Cacheable {
  readonly role: "tool"
  readonly toolCallId: string
  readonly content: ReadonlyArray<Part>
  /** The tool failed, and the content says how. */
  readonly isError?: true
}

export interface TextPart extends Cacheable {
  readonly type: "text"
  readonly text: string
}

export interface ImagePart extends Cacheable {
  readonly type: "image"
  /** A URL to fetch it from, or a data URL with its bytes. Providers get only data URLs. */
  readonly url: string
  readonly detail: "auto" | "low" | "high"
  /** Its path in the caller's request, for errors that name it. */
  readonly field?: string
}

/** A PDF file. Providers show the model a picture and the text of each page. */
export interface PdfPart extends Cacheable {
  readonly type: "pdf"
  /** The file as base64. */
  readonly data: string
  readonly name?: string
  /** The caller's description of the file. */
  readonly context?: string
  readonly pages: number
  /** At least the tokens of all its text. */
  readonly text: number
  /** Its path in the caller's request, for errors that name it. */
  readonly field: string
}

export type Part = TextPart | ImagePart | PdfPart

/** The data that a provider expects back with its reasoning, as JSON in its adapter's own form. Only that adapter reads it. */
export type ReasoningData = Readonly<Record<string, unknown>>

/** A block of an assistant's reasoning. Only the provider and the model that made it get it back. */
export interface ReasoningPart {
  /** May be empty: some providers give only the data. */
  readonly text: string
  /** Absent when the caller sends only text. */
  readonly origin?: ReasoningOrigin
  /** Its position in its message; absent means before everything else. */
  readonly place?: ReasoningPlace
}

/** Which provider made a block of reasoning, and what it wants back with it. */
export interface ReasoningOrigin {
  readonly provider: string
  /** The provider's own name of the model. */
  readonly model: string
  readonly data?: ReasoningData
}

/** How much of a message comes before a block of reasoning. */
export interface ReasoningPlace {
  /** UTF-16 units of text. */
  readonly text: number
  readonly calls: number
}

export interface ToolCall extends Cacheable {
  readonly id: string
  readonly name: string
  /** JSON text as the model wrote it; it need not be valid JSON. */
  readonly arguments: string
}

export interface Tool extends Cacheable {
  readonly name: string
  readonly description: string | undefined
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>> | undefined
  readonly strict: boolean | undefined
  /** The schema has optional members. With those the caller's API can be strict, and OpenAI's cannot. */
  readonly isOpen?: true
  /** A tool that Anthropic's API knows by its type. Anthropic gets this instead of the description and the schema. */
  readonly typed?: Readonly<Record<string, unknown>>
}

export type ToolChoice =
  | { readonly type: "auto" }
  | { readonly type: "none" }
  | { readonly type: "required" }
  | { readonly type: "tool"; readonly name: string }

export type OutputFormat =
  | { readonly type: "text" }
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema"
      readonly name: string
      /** A description of the answer. The model reads it. */
      readonly description?: string
      readonly schema: Readonly<Record<string, unknown>> | undefined
      readonly strict: boolean | undefined
      /** The schema's path in the caller's request, for errors that name it. */
      readonly field?: string
    }

export interface Sampling {
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly minP?: number
  readonly repetitionPenalty?: number
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  readonly seed?: number
  readonly stop?: ReadonlyArray<string>
  readonly logprobs?: boolean
  readonly topLogprobs?: number
  /** How long an answer should be. */
  readonly verbosity?: "low" | "medium" | "high"
}

export interface Reasoning {
  readonly effort: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | undefined
  readonly maxTokens: number | undefined
  readonly enabled: boolean | undefined
  /** The effort applies to the whole answer, as Anthropic's does: by itself it does not ask for reasoning. */
  readonly ofAnswer?: true
}

/** Whether the provider should cache any part of the prompt for an hour, which costs more to write than five minutes. */
export const keepsForAnHour = ({ cacheTtl, messages, tools }: Conversation): boolean => {
  const asks = (one: Cacheable): boolean => one.cacheTtl === "1h"
  if (cacheTtl === "1h" || tools.some(asks)) return true
  return messages.some(
    (message) =>
      message.content.some(asks) ||
      (message.role === "tool" && asks(message)) ||
      (message.role === "assistant" && message.toolCalls.some(asks))
  )
}

/** How many images the messages carry. */
export const imagesIn = ({ messages }: Conversation): number => {
  let images = 0
  for (const { content } of messages) for (const { type } of content) if (type === "image") images += 1
  return images
}

/** The PDF files that the messages carry, in their order. */
export const pdfsIn = ({ messages }: Pick<Conversation, "messages">): ReadonlyArray<PdfPart> =>
  messages.flatMap(({ content }) => (content as ReadonlyArray<Part>).filter((part) => part.type === "pdf"))

/** Whether any message carries an image. */
export const hasImages = (conversation: Conversation): boolean =>
  conversation.messages.some(
    (message) =>
      (message.role === "user" || message.role === "tool") && message.content.some((part) => part.type === "image")
  )
