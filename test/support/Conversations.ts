import type { Conversation } from "../../src/domain/Conversation.ts"

/** A conversation with one user message. `more` replaces other fields. */
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
