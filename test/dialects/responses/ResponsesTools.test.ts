import { assert, describe, it } from "@effect/vitest"
import { Toolbox } from "../../../src/dialects/responses/ResponsesTools.ts"

const boxOf = (...tools: ReadonlyArray<object>): Toolbox => {
  const toolbox = new Toolbox()
  const failed = toolbox.addAll(tools, { at: "tools", replaces: false })
  return failed === undefined ? toolbox : assert.fail(JSON.stringify(failed.reason))
}

const problemOf = (...tools: ReadonlyArray<object>): string | undefined => {
  const reason = new Toolbox().addAll(tools, { at: "tools", replaces: false })?.reason
  if (reason?._tag === "ValidationError") return reason.problems.map(({ field }) => field).join()
  return reason?._tag === "UnsupportedParameter" ? `unsupported ${reason.param}` : reason?._tag
}

const look = { type: "function", name: "look", description: "Looks.", parameters: { type: "object" }, strict: false }
const patch = { type: "custom", name: "patch" }
const grammar = { type: "grammar", syntax: "lark", definition: "start: /.+/" }
const search = { type: "tool_search", execution: "client", description: "Finds." }

describe("the tools of a response", () => {
  it("become functions, each with its own name", () => {
    const edits = {
      type: "namespace",
      name: "edits",
      description: "Edits files.",
      tools: [{ ...look, description: "x" }, patch]
    }
    const box = boxOf(look, { ...patch, description: "Patches.", format: grammar }, edits, search)
    assert.deepStrictEqual(
      box.tools.map(({ description, name }) => [name, description]),
      [
        ["look", "Looks."],
        ["patch", "Patches.\n\n`input` must match this lark grammar:\nstart: /.+/"],
        ["edits__look", "Edits files.\n\nx"],
        ["edits__patch", undefined],
        ["tool_search", "Finds."]
      ]
    )
    assert.deepStrictEqual(
      [...box.forms],
      [
        ["patch", { kind: "custom", name: "patch" }],
        ["edits__look", { kind: "function", name: "look", namespace: "edits" }],
        ["edits__patch", { kind: "custom", name: "patch", namespace: "edits" }],
        ["tool_search", { kind: "search", name: "tool_search" }]
      ]
    )
    assert.deepInclude(box.tools[1]?.parameters, { required: ["input"] })
    assert.deepStrictEqual(box.tools[0]?.parameters, { type: "object" })
  })

  it("get unique names of at most 64 characters", () => {
    const long = "n".repeat(60)
    const inside = (name: string) => ({ type: "namespace", name, tools: [{ type: "function", name: long }] })
    const box = boxOf(
      { type: "function", name: "a__b" },
      { type: "namespace", name: "a", tools: [{ ...look, name: "b" }] }
    )
    assert.deepStrictEqual(
      box.tools.map(({ name }) => name),
      ["a__b", "a__b_2"]
    )
    assert.deepStrictEqual(box.forms.get("a__b_2"), { kind: "function", name: "b", namespace: "a" })
    const names = boxOf(inside("first"), inside("second")).tools.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, 2)
    for (const name of names) assert.match(name, /^(first|second)__n+_[0-9a-f]{8}$/)
    for (const name of names) assert.strictEqual(name.length, 64)
  })

  it("omit those that only OpenAI's servers run, and list them as ignored", () => {
    const hosted = ["web_search", "web_search_preview_2025_03_11", "file_search", "computer_use", "code_interpreter"]
    const others = ["image_generation", "mcp", "programmatic_tool_calling"]
    const box = boxOf(look, ...[...others, ...hosted].map((type) => ({ type })), { type: "tool_search" })
    assert.deepStrictEqual(
      box.tools.map(({ name }) => name),
      ["look"]
    )
    assert.deepStrictEqual(
      box.ignored,
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((index) => `tools[${index}]`)
    )
  })

  it("are rejected with their path when they are invalid or unsupported", () => {
    assert.strictEqual(problemOf(look, { type: "local_shell" }), "unsupported tools[1].type")
    assert.strictEqual(problemOf(look, look), "tools[1].name")
    assert.strictEqual(problemOf({ type: "function", name: "a b" }), "tools[0].name")
    assert.strictEqual(problemOf({ type: "custom" }), "tools[0].name")
    assert.strictEqual(problemOf({}), "tools[0].type")
    const nested = { type: "namespace", name: "out", tools: [{ type: "namespace", name: "in", tools: [] }] }
    assert.strictEqual(problemOf(nested), "tools[0].tools[0].type")
    const many = (name: string) => ({
      type: "namespace",
      name,
      tools: Array.from({ length: 128 }, (_, index) => ({ type: "function", name: `f${index}` }))
    })
    assert.isUndefined(problemOf(...["a", "b", "c", "d"].map(many)))
    assert.strictEqual(problemOf(...["a", "b", "c", "d"].map(many), look), "tools")
  })

  it("that an item of the input declares replace earlier ones with the same name", () => {
    const box = boxOf(look)
    box.addAll([{ ...look, description: "Looks again." }, patch], { at: "input[0].tools", replaces: true })
    assert.deepStrictEqual(
      box.tools.map(({ description, name }) => [name, description]),
      [
        ["look", "Looks again."],
        ["patch", undefined]
      ]
    )
  })

  it("are found by references to functions, custom tools, searches and whole namespaces", () => {
    const edits = { type: "namespace", name: "edits", tools: [look, patch] }
    const box = boxOf(look, edits, search)
    assert.deepStrictEqual(box.namesIn({ type: "function", name: "look" }), ["look"])
    assert.deepStrictEqual(box.namesIn({ type: "function", name: "look", namespace: "edits" }), ["edits__look"])
    assert.deepStrictEqual(box.namesIn({ type: "custom", name: "patch", namespace: "edits" }), ["edits__patch"])
    assert.deepStrictEqual(box.namesIn({ type: "tool_search" }), ["tool_search"])
    assert.deepStrictEqual(box.namesIn({ type: "namespace", name: "edits" }), ["edits__look", "edits__patch"])
    assert.deepStrictEqual(box.namesIn({ type: "web_search" }), [])
  })
})
