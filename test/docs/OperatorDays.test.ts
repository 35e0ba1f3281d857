/** Runs every command of the operator's page in its order, and compares what is printed with what the page shows. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstream } from "../providers/upstream.ts"
import { setUp } from "../admin/commandLine.ts"
import { blocksIn } from "../support/Documents.ts"
import { post, startService } from "../support/Service.ts"
import { textOf } from "../support/Sources.ts"

const page = textOf("docs/operate/days.md")

const REQUEST = "req_01K5EXAMP0000000000000000A"

/** Replaces what differs from run to run by something of the same length, so that columns stay aligned. */
const stable = (text: string): string =>
  text
    .replace(/svc_(sk|mk)_[\w-]{43}/g, "svc_$1_EXAMPLE")
    .replace(/req_[0-9A-HJKMNP-TV-Z]{26}/g, REQUEST)
    .replace(/(?<![0-9a-f])[0-9a-f]{24}(?![0-9a-f])/g, "0123456789abcdef01234567")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-09-21T14:13:20.000Z")
    .replace(/\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d/g, "2026-08-23 to 2026-09-21")
    .replace(/\b\d+ ms\b/g, "3 ms")

/** A host that answers 10 prompt tokens and 200 output tokens. */
const host = upstream((request, response) => {
  request.resume().on("end", () => {
    const usage = { prompt_tokens: 10, completion_tokens: 200, total_tokens: 210 }
    const choices = [{ index: 0, message: { role: "assistant", content: "Little." }, finish_reason: "stop" }]
    const body = { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "whatever", choices, usage }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
})

describe("the operator's page", () => {
  it.live("shows commands that work, with their output", () =>
    Effect.gen(function* () {
      const { command, url } = yield* setUp
      const { origin } = yield* host
      const settings = { DATABASE_URL: url, OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${origin}/v1` }
      const service = yield* startService(settings)
      const [blocks, shown] = [blocksIn(page, "sh"), blocksIn(page, "text")]
      assert.strictEqual(blocks.length, shown.length)
      assert.isAbove(blocks.length, 5)
      let [key, request] = ["", ""]
      for (const [index, block] of blocks.entries()) {
        if (index === 1) {
          const routing = { providers: { only: ["openai"] } }
          const body = {
            model: "gpt-4o-mini",
            messages: [{ role: "user", content: "Hello!" }],
            max_tokens: 300,
            routing
          }
          for (const _ of [1, 2]) {
            const answer = yield* post(`${service.api}/chat/completions`, key, body)
            assert.strictEqual(answer.status, 200)
            request = answer.headers.get("x-request-id") ?? ""
          }
        }
        const said: Array<string> = []
        for (const line of block.trimEnd().split("\n")) {
          const words = line.replace(/^npm run -s admin -- /, "").replace(REQUEST, request)
          assert.notStrictEqual(words, line)
          const { code, stderr, stdout } = yield* command(words)
          assert.deepStrictEqual([code, stderr], [0, []], line)
          said.push(...stdout)
          key = /inference key +(\S+)/.exec(stdout.join("\n"))?.[1] ?? key
        }
        assert.strictEqual(stable(said.join("\n")), shown[index]?.trimEnd(), block)
      }
    }).pipe(Effect.scoped)
  )
})
