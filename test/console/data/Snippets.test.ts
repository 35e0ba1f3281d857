import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { firstCall, snippetsOf } from "../../../src/console/data/Snippets.ts"

const call = {
  ...firstCall("http://127.0.0.1:1", "svc_sk_x"),
  messages: [{ role: "user", content: `It's "quoted": true, $HOME and \\ too` }],
  parameters: { temperature: 0.5, stream_options: { include_usage: true } }
}

const codeOf = (name: string): string => snippetsOf(call).find((snippet) => snippet.name === name)!.code

describe("snippets", () => {
  it("hand the body of curl through a shell as it is", () => {
    const shell = `curl() { printf '%s\\n' "$@"; }\n${codeOf("curl")}`
    const words = execFileSync("sh", ["-c", shell], { encoding: "utf8" }).trim().split("\n")
    assert.include(words, "Authorization: Bearer svc_sk_x")
    const body = JSON.parse(words.at(-1)!)
    assert.deepStrictEqual(body, { model: "gpt-4o-mini", messages: call.messages, ...call.parameters, stream: true })
  })

  it("spell truth as Python does, and leave the text of messages alone", () => {
    const python = codeOf("Python")
    assert.include(python, `"include_usage": True`)
    assert.include(python, `\\"quoted\\": true`)
  })

  it("name the address and the key in every language", () => {
    for (const { code } of snippetsOf(call)) {
      assert.include(code, "http://127.0.0.1:1")
      assert.include(code, "svc_sk_x")
    }
  })
})
