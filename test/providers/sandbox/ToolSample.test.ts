import { assert, describe, it } from "@effect/vitest"
import { argumentsFor, isNamed } from "../../../src/providers/sandbox/ToolSample.ts"

const parameters = { type: "object", properties: { input: { type: "string" } }, required: ["input"] }
const tool = (description: string) => ({ name: "functions__exec", description, parameters, strict: undefined })
const declared = `Runs code.
declare const tools: { fetch_page(args: {
  // Where.
  url: string;
}): Promise<unknown>; };
declare const tools: { run(args: {
  // What is run.
  cmd: string;
  tty?: boolean;
  lines: number;
}): Promise<unknown>; };`

describe("a tool call of the sandbox", () => {
  it("has sample arguments", () => {
    assert.deepStrictEqual(argumentsFor(tool("Looks."), new Set()), { input: "sample input" })
  })

  it("runs the named function with its required arguments when the tool runs code", () => {
    assert.deepStrictEqual(argumentsFor(tool(declared), new Set(["Use", "run"])), {
      input: 'text(await tools.run({"cmd":"sample cmd","lines":1}))'
    })
    assert.deepStrictEqual(argumentsFor(tool(declared), new Set()), {
      input: 'text(await tools.fetch_page({"url":"sample url"}))'
    })
  })

  it("matches a tool named with or without its namespace", () => {
    assert.isTrue(isNamed(new Set(["functions__exec"]), tool("")))
    assert.isTrue(isNamed(new Set(["exec"]), tool("")))
    assert.isFalse(isNamed(new Set(["functions"]), tool("")))
  })
})
