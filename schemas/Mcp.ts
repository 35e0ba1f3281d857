import { Schema } from "effect"

/** The tools of the MCP server. */
export const McpToolName = Schema.Literals([
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
export type McpToolName = typeof McpToolName.Type
