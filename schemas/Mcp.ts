import { Schema } from "effect"

/** The tools of the MCP server. */
export const ToolName = Schema.Literals([
  "chat",
  "list_models",
  "get_model",
  "estimate_cost",
  "generate_image",
  "create_video",
  "get_video",
  "search",
  "embed",
  "rerank",
  "speak",
  "get_balance",
  "get_usage",
  "list_requests",
  "get_receipt"
])
export type ToolName = typeof ToolName.Type
