/** Converts tools that Anthropic's API defines by type, and that the caller runs, to functions for all other providers. */
import type { MessagesTypedTool } from "../../../schemas/inference/MessagesTools.ts"

interface Shape {
  readonly description: string
  readonly properties: Readonly<Record<string, object>>
  readonly required: ReadonlyArray<string>
}

const text = { type: "string" }
const whole = { type: "integer" }
const point = { type: "array", items: whole, minItems: 2, maxItems: 2 }
const command = (...values: ReadonlyArray<string>) => ({ type: "string", enum: values })

const file = {
  path: { type: "string", description: "Path of the file or directory." },
  file_text: { type: "string", description: "Content of the file, for `create`." },
  old_str: { type: "string", description: "Text to replace, which must occur exactly once, for `str_replace`." },
  new_str: { type: "string", description: "Text to put in its place, for `str_replace`." },
  insert_line: { type: "integer", description: "Line after which the text goes, 0 for the beginning, for `insert`." },
  insert_text: { type: "string", description: "Text to insert, for `insert`." },
  view_range: { ...point, description: "First and last line to show, for `view`; -1 is the last line of the file." }
}

const bash: Shape = {
  description: "Runs a command in a bash shell that keeps its state between calls.",
  properties: {
    command: { type: "string", description: "The command to run. Required unless the shell is restarted." },
    restart: { type: "boolean", description: "True restarts the shell." }
  },
  required: []
}

const memory: Shape = {
  description: "Views and edits the files of a memory that lasts between conversations, below `/memories`.",
  properties: {
    command: command("view", "create", "str_replace", "insert", "delete", "rename"),
    ...file,
    old_path: { type: "string", description: "Path of the file to rename." },
    new_path: { type: "string", description: "Its new path, for `rename`." }
  },
  required: ["command"]
}

/** The first versions also have an undo command, and insert the text of `new_str`. */
const editor = (version: string): Shape => {
  const { insert_text, ...first } = file
  const commands = ["view", "create", "str_replace", "insert"]
  return {
    description: "Views, creates and edits files of text.",
    properties: {
      command: version < "20250429" ? command(...commands, "undo_edit") : command(...commands),
      ...(version < "20250728" ? { ...first, new_str: text } : { ...first, insert_text })
    },
    required: ["command", "path"]
  }
}

const clicks = ["left_click", "right_click", "middle_click", "double_click", "triple_click"]
const actions = {
  "2024": ["key", "type", "mouse_move", ...clicks.slice(0, 4), "left_click_drag", "screenshot", "cursor_position"],
  "2025": ["hold_key", "left_mouse_down", "left_mouse_up", "triple_click", "scroll", "wait"]
}

const computer = (version: string, tool: MessagesTypedTool): Shape => ({
  description: [
    "Controls a computer by its screen, keyboard and mouse.",
    tool.display_width_px == null || tool.display_height_px == null
      ? ""
      : `The screen is ${tool.display_width_px} by ${tool.display_height_px} pixels.`
  ]
    .filter((sentence) => sentence !== "")
    .join(" "),
  properties: {
    action: command(
      ...actions["2024"],
      ...(version < "20250124" ? [] : actions["2025"]),
      ...(version >= "20251124" && tool.enable_zoom === true ? ["zoom"] : [])
    ),
    coordinate: { ...point, description: "Pixels from the left and from the top." },
    start_coordinate: { ...point, description: "Where a drag begins." },
    text: { type: "string", description: "Text to type, or keys to press." },
    duration: { type: "number", description: "Seconds to hold a key or to wait." },
    scroll_direction: command("up", "down", "left", "right"),
    scroll_amount: { type: "integer", description: "How many steps to scroll." },
    region: { type: "array", items: whole, minItems: 4, maxItems: 4, description: "Corners of what to zoom into." }
  },
  required: ["action"]
})

const shapeOf = (tool: MessagesTypedTool): Shape => {
  const at = tool.type.lastIndexOf("_")
  const version = tool.type.slice(at + 1)
  switch (tool.type.slice(0, at)) {
    case "bash":
      return bash
    case "memory":
      return memory
    case "computer":
      return computer(version, tool)
    default:
      return editor(version)
  }
}

/** The function that providers other than Anthropic receive for a typed tool. */
export const functionOf = (tool: MessagesTypedTool) => {
  const { description, properties, required } = shapeOf(tool)
  return { description, parameters: { type: "object", properties, required, additionalProperties: false } }
}
