/** The turns of a conversation, and the messages for the API. */

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** The JSON that the model wrote. */
  readonly arguments: string
}

export interface Turn {
  readonly role: "user" | "assistant" | "tool"
  readonly content: string
  /** Data URLs. */
  readonly images?: ReadonlyArray<string>
  readonly reasoning?: string
  readonly calls?: ReadonlyArray<ToolCall>
  /** The call that a tool's result answers. */
  readonly callId?: string
  readonly model?: string
  readonly costUsd?: number
  readonly tokens?: number
  readonly requestId?: string
  readonly firstTokenMs?: number
  readonly totalMs?: number
  readonly error?: string
}

type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }

/** A message of the API. */
export type Message =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | ReadonlyArray<Part> }
  | {
      readonly role: "assistant"
      readonly content: string | null
      readonly tool_calls?: ReadonlyArray<{
        readonly id: string
        readonly type: "function"
        readonly function: { readonly name: string; readonly arguments: string }
      }>
    }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string }

const messageOf = ({ callId = "", calls = [], content, images = [], role }: Turn): Message => {
  if (role === "tool") return { role, tool_call_id: callId, content }
  if (role === "assistant") {
    if (calls.length === 0) return { role, content }
    return {
      role,
      content: content === "" ? null : content,
      tool_calls: calls.map(({ id, name, arguments: given }) => ({
        id,
        type: "function",
        function: { name, arguments: given }
      }))
    }
  }
  if (images.length === 0) return { role, content }
  const parts = images.map((url): Part => ({ type: "image_url", image_url: { url } }))
  return { role, content: content === "" ? parts : [{ type: "text", text: content }, ...parts] }
}

const isSent = ({ calls = [], content, images = [], role }: Turn): boolean =>
  role === "tool" || content !== "" || calls.length > 0 || images.length > 0

/** The messages of a request: the instructions and the turns that are not empty. */
export const messagesOf = (instructions: string, turns: ReadonlyArray<Turn>): ReadonlyArray<Message> => [
  ...(instructions.trim() === "" ? [] : [{ role: "system" as const, content: instructions }]),
  ...turns.filter(isSent).map(messageOf)
]

/** Returns the turns of the last request: all turns up to the last one that is not an answer. */
export const sentTurns = (turns: ReadonlyArray<Turn>): ReadonlyArray<Turn> =>
  turns.slice(0, turns.findLastIndex(({ role }) => role !== "assistant") + 1)

/** The calls of the last answer that wait for a result. */
export const openCalls = (turns: ReadonlyArray<Turn>): ReadonlyArray<ToolCall> => {
  const at = turns.findLastIndex(({ role }) => role === "assistant")
  const answered = new Set(turns.slice(at + 1).map(({ callId }) => callId))
  return (turns[at]?.calls ?? []).filter(({ id }) => !answered.has(id))
}

interface CallDelta {
  readonly index: number
  readonly id?: string
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

/** Adds the next chunk of a stream to the calls. */
export const withDelta = (
  calls: ReadonlyArray<ToolCall>,
  deltas: ReadonlyArray<CallDelta>
): ReadonlyArray<ToolCall> => {
  const next = [...calls]
  for (const { function: called = {}, id, index } of deltas) {
    const before = next[index] ?? { id: "", name: "", arguments: "" }
    next[index] = {
      id: id ?? before.id,
      name: called.name ?? before.name,
      arguments: before.arguments + (called.arguments ?? "")
    }
  }
  return next
}

/** Parses tools from JSON: a list of whole tools or of their `function` alone. Returns the error if the JSON is wrong. */
export const toolsOf = (text: string): { readonly tools: ReadonlyArray<object> } | { readonly wrong: string } => {
  if (text.trim() === "") return { tools: [] }
  try {
    const read: unknown = JSON.parse(text)
    const list: ReadonlyArray<unknown> = Array.isArray(read) ? read : [read]
    const tools = list.map((one) => {
      if (typeof one !== "object" || one === null) throw new Error("each tool must be an object")
      return "function" in one ? one : { type: "function", function: one }
    })
    const nameless = tools.find((one) => typeof (one as { function?: { name?: unknown } }).function?.name !== "string")
    return nameless === undefined ? { tools } : { wrong: "Each tool must have a `name`." }
  } catch (error) {
    return { wrong: `The tools must be JSON: ${(error as Error).message}.` }
  }
}
