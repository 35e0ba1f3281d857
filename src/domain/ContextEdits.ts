/** Carries out edits of a prompt for providers that do not know them. */
import type { ContextEdit, Conversation, Message, ToolCall } from "./Conversation.ts"
import { likelyTokens, promptBound } from "./TokenBound.ts"

/** A conversation after its edits, and what each edit that changed it did, in Anthropic's words. */
export interface EditedConversation {
  readonly conversation: Conversation
  readonly applied: ReadonlyArray<object>
}

/** Anthropic's defaults. */
const DEFAULT_TRIGGER_TOKENS = 100_000
const DEFAULT_KEPT_USES = 3

const CLEARED = "[Old tool result content cleared]"

type Wire = ContextEdit["wire"]

const objectOf = (value: unknown): Wire =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Wire) : {}

const numberIn = (holder: unknown, otherwise: number): number => {
  const value = objectOf(holder)["value"]
  return typeof value === "number" ? value : otherwise
}

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const tokensOf = (conversation: Conversation): number => likelyTokens(promptBound(conversation).most)

const callsIn = (messages: ReadonlyArray<Message>): ReadonlyMap<string, ToolCall> =>
  new Map(
    messages.flatMap((message) =>
      message.role === "assistant" ? message.toolCalls.map((call) => [call.id, call] as const) : []
    )
  )

/** Whether the prompt has reached the length, or the number of tool uses, that triggers the edit. */
const isDue = (trigger: unknown, conversation: Conversation, uses: number): boolean =>
  objectOf(trigger)["type"] === "tool_uses"
    ? uses > numberIn(trigger, 0)
    : tokensOf(conversation) > numberIn(trigger, DEFAULT_TRIGGER_TOKENS)

/** Ids of the calls whose results are cleared: all but the latest ones and those of excluded tools. */
const outdated = (messages: ReadonlyArray<Message>, wire: Wire): ReadonlySet<string> => {
  const calls = callsIn(messages)
  const excluded = new Set(listOf(wire["exclude_tools"]))
  const results = messages.filter((message) => message.role === "tool").map(({ toolCallId }) => toolCallId)
  const kept = numberIn(wire["keep"], DEFAULT_KEPT_USES)
  const old = results.slice(0, Math.max(0, results.length - kept))
  return new Set(old.filter((id) => !excluded.has(calls.get(id)?.name)))
}

const withoutInputs = (message: Message, ids: ReadonlySet<string>, inputs: unknown): Message => {
  if (message.role !== "assistant" || (inputs !== true && !Array.isArray(inputs))) return message
  const goes = ({ id, name }: ToolCall) => ids.has(id) && (inputs === true || listOf(inputs).includes(name))
  return message.toolCalls.some(goes)
    ? { ...message, toolCalls: message.toolCalls.map((call) => (goes(call) ? { ...call, arguments: "{}" } : call)) }
    : message
}

const clearToolUses = (conversation: Conversation, { wire }: ContextEdit): EditedConversation => {
  const unchanged: EditedConversation = { conversation, applied: [] }
  const { messages } = conversation
  const uses = messages.filter(({ role }) => role === "tool").length
  if (uses === 0 || !isDue(wire["trigger"], conversation, uses)) return unchanged
  const ids = outdated(messages, wire)
  if (ids.size === 0) return unchanged
  const cleared: Conversation = {
    ...conversation,
    messages: messages.map((message) =>
      message.role === "tool" && ids.has(message.toolCallId)
        ? { ...message, content: [{ type: "text", text: CLEARED }] }
        : withoutInputs(message, ids, wire["clear_tool_inputs"])
    )
  }
  const tokens = Math.max(0, tokensOf(conversation) - tokensOf(cleared))
  if (tokens < numberIn(wire["clear_at_least"], 0)) return unchanged
  return {
    conversation: cleared,
    applied: [{ type: wire["type"], cleared_tool_uses: ids.size, cleared_input_tokens: tokens }]
  }
}

/** Anthropic's default when an edit names no number of turns. */
const DEFAULT_KEPT_THINKING_TURNS = 1

/** For each message, the turn it belongs to. A turn begins with the user's words and includes the results of its tools. */
const turnsOf = (messages: ReadonlyArray<Message>): ReadonlyArray<number> => {
  let turn = 0
  return messages.map(({ role }, index) => {
    if (role === "user" && messages[index - 1]?.role !== "user") turn++
    return turn
  })
}

const clearThinking = (conversation: Conversation, { wire }: ContextEdit): EditedConversation => {
  const unchanged: EditedConversation = { conversation, applied: [] }
  const { keep } = wire
  if (keep === "all" || objectOf(keep)["type"] === "all") return unchanged
  const { messages } = conversation
  const turns = turnsOf(messages)
  const thinks = (message: Message): boolean => message.role === "assistant" && (message.reasoning?.length ?? 0) > 0
  const thinking = [...new Set(turns.filter((_, index) => thinks(messages[index]!)))]
  const kept = numberIn(keep, DEFAULT_KEPT_THINKING_TURNS)
  const old = new Set(thinking.slice(0, Math.max(0, thinking.length - kept)))
  if (old.size === 0) return unchanged
  const cleared: Conversation = {
    ...conversation,
    messages: messages.map((message, index) => {
      if (message.role !== "assistant" || !old.has(turns[index]!)) return message
      const { reasoning: _, ...rest } = message
      return rest
    })
  }
  const tokens = Math.max(0, tokensOf(conversation) - tokensOf(cleared))
  return {
    conversation: cleared,
    applied: [{ type: wire["type"], cleared_thinking_turns: old.size, cleared_input_tokens: tokens }]
  }
}

const edit = (conversation: Conversation, one: ContextEdit): EditedConversation => {
  switch (one.kind) {
    case "clear_tool_uses":
      return clearToolUses(conversation, one)
    case "clear_thinking":
      return clearThinking(conversation, one)
    case "compact":
      return { conversation, applied: [] }
  }
}

/** Carries out the edits of a conversation in their order. Only Anthropic compacts, so the gateway leaves compaction undone. */
export const editContext = (conversation: Conversation): EditedConversation => {
  const { contextEdits = [], ...rest } = conversation
  let edited: EditedConversation = { conversation: rest, applied: [] }
  for (const one of contextEdits) {
    const next = edit(edited.conversation, one)
    edited = { conversation: next.conversation, applied: [...edited.applied, ...next.applied] }
  }
  return edited
}
