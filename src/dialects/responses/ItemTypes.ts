import { objectOf } from "../Decode.ts"

/** The types of input items. */
export const itemTypes = [
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "additional_tools",
  "tool_search_call",
  "tool_search_output"
] as const

/**
 * Whether an item is a reference to the reasoning of an earlier response. Some clients send reasoning only in that form unless they set
 * `store: false`. The conversation is complete without it.
 */
export const isReasoningReference = (item: unknown): boolean => {
  const { id, type } = objectOf(item) ?? {}
  return type === "item_reference" && typeof id === "string" && id.startsWith("rs_")
}
