import type { Conversation } from "../../src/domain/Conversation.ts"

/** A conversation of one question, and whatever else a test needs of it. */
export const asked = (text: string, more: Partial<Conversation> = {}): Conversation => ({
  messages: [{ role: "user", content: [{ type: "text", text }] }],
  tools: [],
  toolChoice: { type: "auto" },
  parallelToolCalls: undefined,
  format: { type: "text" },
  sampling: {},
  reasoning: undefined,
  maxOutputTokens: undefined,
  user: undefined,
  ...more
})
