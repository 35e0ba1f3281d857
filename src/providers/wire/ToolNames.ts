/** Shortens tool names that a host would reject, and restores them in its answers. */
import { Effect } from "effect"
import { hash } from "node:crypto"
import type { ContextEdit, Conversation } from "../../domain/Conversation.ts"
import type { Output, OutputEvent } from "../../domain/Output.ts"
import { type Provider, type TakeEvents } from "../Provider.ts"

/** The tool names that a host accepts. */
export interface ToolNameBounds {
  /** Characters that the host rejects; a global expression. */
  readonly refused: RegExp
  /** What a name must begin with, if not every character is allowed there. */
  readonly begins?: RegExp
  readonly mostCharacters: number
}

/** A conversation with names that the host accepts, and the caller's names of the changed ones. */
export interface RenamedConversation {
  readonly conversation: Conversation
  readonly callers: ReadonlyMap<string, string>
}

const HASH_DIGITS = 8

/**
 * The name in a form that the host accepts. The same name always maps to the same result, and a hash distinguishes names with the same
 * start.
 */
export const fittingName = (name: string, { begins, mostCharacters, refused }: ToolNameBounds): string => {
  const plain = name.replaceAll(refused, "_")
  const begun = begins === undefined || begins.test(plain) ? plain : `_${plain}`
  if (begun === name && name.length <= mostCharacters) return name
  return `${begun.slice(0, mostCharacters - HASH_DIGITS - 1)}_${hash("sha256", name, "hex").slice(0, HASH_DIGITS)}`
}

/** The conversation with rejected tool names replaced everywhere; undefined when the host accepts all of them. */
export const renameTools = (conversation: Conversation, bounds: ToolNameBounds): RenamedConversation | undefined => {
  const callers = new Map<string, string>()
  const fit = (name: string): string => {
    const fitting = fittingName(name, bounds)
    if (fitting !== name) callers.set(fitting, name)
    return fitting
  }
  const { messages, toolChoice, tools } = conversation
  const fitTools = tools.map((tool) => ({ ...tool, name: fit(tool.name) }))
  const fitMessages = messages.map((message) =>
    message.role === "assistant" && message.toolCalls.length > 0
      ? { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, name: fit(call.name) })) }
      : message
  )
  if (callers.size === 0) return undefined
  const edits = conversation.contextEdits?.map((edit) => ({ ...edit, wire: fittingEdit(edit.wire, fit) }))
  const fitChoice = toolChoice.type === "tool" ? { ...toolChoice, name: fit(toolChoice.name) } : toolChoice
  const fitted = { ...conversation, messages: fitMessages, tools: fitTools, toolChoice: fitChoice }
  return { conversation: edits === undefined ? fitted : { ...fitted, contextEdits: edits }, callers }
}

/** Members of Anthropic's context edits that list names of tools. */
const EDIT_NAMES: ReadonlySet<string> = new Set(["exclude_tools", "clear_tool_inputs"])

const fittingEdit = (wire: ContextEdit["wire"], fit: (name: string) => string): ContextEdit["wire"] =>
  Object.fromEntries(
    Object.entries(wire).map(([member, value]) => [
      member,
      EDIT_NAMES.has(member) && Array.isArray(value) ? value.map((name) => fit(String(name))) : value
    ])
  )

/** An answer with the caller's names. */
const namedBack = (output: Output, { callers }: RenamedConversation): Output => ({
  ...output,
  toolCalls: output.toolCalls.map((call) => ({ ...call, name: callers.get(call.name) ?? call.name }))
})

/** Events with the caller's names. */
const eventsBack = (events: ReadonlyArray<OutputEvent>, { callers }: RenamedConversation): ReadonlyArray<OutputEvent> =>
  events.map((event) =>
    event._tag === "ToolStart" ? { ...event, name: callers.get(event.name) ?? event.name } : event
  )

/** Wraps a provider so that it receives tool names it accepts, invisibly to the caller. */
export const withToolNames = (provider: Provider, bounds: ToolNameBounds): Provider => ({
  ...provider,
  chat: (call) => {
    const names = renameTools(call.conversation, bounds)
    if (names === undefined) return provider.chat(call)
    return Effect.map(provider.chat({ ...call, conversation: names.conversation }), (output) =>
      namedBack(output, names)
    )
  },
  chatStream: (call) => {
    const names = renameTools(call.conversation, bounds)
    if (names === undefined) return provider.chatStream(call)
    return Effect.map(provider.chatStream({ ...call, conversation: names.conversation }), (source) => ({
      ...source,
      each: (take: TakeEvents) => source.each((events) => take(eventsBack(events, names)))
    }))
  }
})

/** The limits of OpenAI, and of hosts that implement its API. */
export const OPENAI_NAMES: ToolNameBounds = { refused: /[^a-zA-Z0-9_-]/g, mostCharacters: 64 }

/** The limits of Anthropic. */
export const ANTHROPIC_NAMES: ToolNameBounds = { refused: /[^a-zA-Z0-9_-]/g, mostCharacters: 128 }

/** The limits of Gemini. */
export const GEMINI_NAMES: ToolNameBounds = { refused: /[^a-zA-Z0-9_.:-]/g, begins: /^[a-zA-Z_]/, mostCharacters: 64 }
