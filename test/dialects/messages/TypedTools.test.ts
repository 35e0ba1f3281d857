import { assert, describe, it } from "@effect/vitest"
import { functionOf } from "../../../src/dialects/messages/TypedTools.ts"

const membersOf = (type: string, more: object = {}) => {
  const { properties, required } = functionOf({ type, name: "t", ...more }).parameters
  const choices = (properties["command"] ?? properties["action"]) as { readonly enum?: ReadonlyArray<string> }
  return { names: Object.keys(properties), choices: choices.enum ?? [], required }
}

describe("a tool that Anthropic's API defines by its type", () => {
  it("becomes a function with the input that Anthropic publishes for it", () => {
    assert.deepStrictEqual(membersOf("bash_20250124").names, ["command", "restart"])
    assert.includeMembers(membersOf("memory_20250818").choices as Array<string>, ["delete", "rename", "view"])
    const click = membersOf("computer_20250124", { display_width_px: 800, display_height_px: 600 })
    assert.deepStrictEqual(click.required, ["action"])
    assert.include(click.choices, "scroll")
    assert.include(
      functionOf({ type: "computer_20250124", name: "c", display_width_px: 800, display_height_px: 600 }).description,
      "800 by 600"
    )
  })

  it("has the commands and fields of its version", () => {
    assert.include(membersOf("text_editor_20250124").choices, "undo_edit")
    assert.notInclude(membersOf("text_editor_20250728").choices, "undo_edit")
    assert.include(membersOf("text_editor_20250728").names, "insert_text")
    assert.notInclude(membersOf("text_editor_20250429").names, "insert_text")
    assert.notInclude(membersOf("computer_20241022").choices, "scroll")
    assert.include(membersOf("computer_20251124", { enable_zoom: true }).choices, "zoom")
  })
})
