/** The types of items that an input may have. */
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
