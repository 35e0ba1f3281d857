import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { batchSnippets, firstCall, snippetsOf } from "../../../src/console/data/Snippets.ts"
import { startService } from "../../support/Service.ts"
import { runProgram, snippetFolder } from "../../support/Snippets.ts"

const call = {
  ...firstCall("http://127.0.0.1:1", "svc_sk_x"),
  messages: [{ role: "user", content: `It's "quoted": true, $HOME and \\ too` }],
  parameters: { temperature: 0.5, stream_options: { include_usage: true } }
}

const codeOf = (name: string): string => snippetsOf(call).find((snippet) => snippet.name === name)!.code

describe("snippets", () => {
  it("pass the body through a shell to curl unchanged", () => {
    const shell = `curl() { printf '%s\\n' "$@"; }\n${codeOf("curl")}`
    const words = execFileSync("sh", ["-c", shell], { encoding: "utf8" }).trim().split("\n")
    assert.include(words, "Authorization: Bearer svc_sk_x")
    const body = JSON.parse(words.at(-1)!)
    assert.deepStrictEqual(body, { model: "gpt-4o-mini", messages: call.messages, ...call.parameters, stream: true })
  })

  it("write booleans as Python does, and leave the text of messages unchanged", () => {
    const python = codeOf("Python")
    assert.include(python, `"include_usage": True`)
    assert.include(python, `\\"quoted\\": true`)
  })

  it("contain the address and the key in every language", () => {
    for (const { code } of snippetsOf(call)) {
      assert.include(code, "http://127.0.0.1:1")
      assert.include(code, "svc_sk_x")
    }
  })
})

const DOT =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

/** A conversation with everything that the playground can send. */
const full = {
  model: "gpt-4o-mini",
  messages: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text" as const, text: "Which weather is it where this dot is?" },
        { type: "image_url" as const, image_url: { url: DOT } }
      ]
    },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } }]
    },
    { role: "tool", tool_call_id: "call_1", content: "rain" },
    { role: "user", content: "So?" }
  ],
  parameters: {
    max_tokens: 40,
    temperature: 0.5,
    tools: [
      {
        type: "function",
        function: {
          name: "get_weather",
          description: "The weather of a city",
          parameters: { type: "object", properties: { city: { type: "string" } } }
        }
      }
    ],
    routing: { strategy: "cost", data_policy: "no_training" }
  }
}

describe("snippets against the service", () => {
  it.live("get answers in curl, OpenAI's and Anthropic's clients and the typed client, with every option set", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(5)
      const directory = yield* snippetFolder
      const snippets = snippetsOf({ origin: service.origin, key: "$KEY", ...full })
      const programs = new Map(snippets.map(({ code, name }) => [name, code]))
      const shown = yield* runProgram("sh", ["-c", programs.get("curl")!], { key: inferenceKey })
      assert.match(shown.stdout, /^data: \{.*\n\ndata: \[DONE\]/s, shown.stdout + shown.stderr)
      for (const name of ["OpenAI", "Anthropic", "Typed client"]) {
        const file = join(directory, `${name.replace(" ", "")}.mjs`)
        writeFileSync(file, programs.get(name)!)
        const { stderr, stdout } = yield* runProgram(process.execPath, [file], { key: inferenceKey })
        assert.notStrictEqual(stdout.trim(), "", `${name}: ${stderr}`)
        assert.notInclude(stderr, "Error", name)
      }
      const rows = yield* service.sql<{ count: bigint }>`SELECT count(*) FROM request
        WHERE account_id = ${account.id} AND status = 'succeeded'`
      assert.strictEqual(Number(rows[0]?.count), 4)
    }).pipe(Effect.scoped)
  )

  it.live("upload the input of a batch and run it", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(5)
      const directory = yield* snippetFolder
      const [upload, runs] = batchSnippets(service.origin)
      const sent = yield* runProgram("sh", ["-c", `cd ${directory}\n${upload!.code}`], { key: inferenceKey })
      const file = JSON.parse(sent.stdout).id
      const begun = yield* runProgram("sh", ["-c", `FILE=${file}\n${runs!.code}`], { key: inferenceKey })
      assert.strictEqual(JSON.parse(begun.stdout).object, "batch", begun.stdout)
    }).pipe(Effect.scoped)
  )
})
