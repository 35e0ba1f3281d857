/** PDF files in prompts: each vendor's host receives them from every dialect, and unreadable ones are refused before the hold. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstream } from "../providers/upstream.ts"
import { linesOf, pdfOf, pdfUrl, pdfWith } from "../support/Pdf.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"
import type { Frame } from "../support/Streams.ts"

const TEN_DOLLARS = 10_000_000_000n
const file = pdfWith(["The first page.", "The second page."])
const data = file.toString("base64")
const url = pdfUrl(file)

interface Host {
  readonly model: string
  /** A plain answer, and the events of a streamed one. */
  readonly whole: object
  readonly events: ReadonlyArray<object | string>
  /** Checks the file in the body that the host received, for a file in the prompt or in a tool result. */
  readonly sent: (body: Frame, from: "prompt" | "result", name: string | undefined) => void
}

const document = (title: string | undefined) => ({
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data },
  ...(title === undefined ? {} : { title })
})
const inline = { inlineData: { mimeType: "application/pdf", data } }
const fileOf = (name: string | undefined) => ({ filename: name ?? "document.pdf", file_data: url })
const usage = { prompt_tokens: 3_000, completion_tokens: 9, total_tokens: 3_009 }
const claudeUsage = { input_tokens: 3_000, output_tokens: 9 }
const geminiWhole = {
  candidates: [{ content: { role: "model", parts: [{ text: "seen" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 3_000, candidatesTokenCount: 9, totalTokenCount: 3_009 }
}

const hosts: Readonly<Record<"anthropic" | "gemini" | "openai", Host>> = {
  anthropic: {
    model: "claude-sonnet-4-5",
    whole: { content: [{ type: "text", text: "seen" }], stop_reason: "end_turn", usage: claudeUsage },
    events: [
      { type: "message_start", message: { content: [], usage: claudeUsage } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "seen" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
      { type: "message_stop" }
    ],
    sent: ({ messages }, from, name) => {
      const block = messages.at(-1).content[0]
      const found = from === "prompt" ? block : block.content[0]
      assert.deepStrictEqual(found, document(name))
      if (from === "result") assert.strictEqual(block.type, "tool_result")
    }
  },
  gemini: {
    model: "gemini-2.5-flash",
    whole: geminiWhole,
    events: [geminiWhole],
    sent: ({ contents }, _, name) => {
      assert.deepStrictEqual(contents.at(-1).parts.slice(0, name === undefined ? 1 : 2), [
        ...(name === undefined ? [] : [{ text: name }]),
        inline
      ])
    }
  },
  openai: {
    model: "gpt-4o-mini",
    whole: { choices: [{ index: 0, message: { role: "assistant", content: "seen" }, finish_reason: "stop" }], usage },
    events: [{ choices: [{ index: 0, delta: { content: "seen" }, finish_reason: "stop" }], usage }, "[DONE]"],
    sent: ({ messages }, _, name) => {
      const { content, role } = messages.at(-1)
      assert.deepStrictEqual([role, content[0]], ["user", { type: "file", file: fileOf(name) }])
    }
  }
}

type Vendor = keyof typeof hosts

/** A request in each dialect with the file in its prompt or in a tool result. */
const dialects: Readonly<Record<string, (model: string, from: "prompt" | "result", name?: string) => object>> = {
  "/chat/completions": (model, from, filename) => {
    const content = [
      { type: "file", file: { file_data: url, filename } },
      { type: "text", text: "What is this?" }
    ]
    const tool_calls = [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }]
    return from === "prompt"
      ? { model, max_tokens: 99, messages: [{ role: "user", content }] }
      : {
          model,
          max_tokens: 99,
          tools: [{ type: "function", function: { name: "look" } }],
          messages: [
            { role: "user", content: "Look" },
            { role: "assistant", tool_calls },
            { role: "tool", tool_call_id: "c", content }
          ]
        }
  },
  "/responses": (model, from, filename) => {
    const content = [
      { type: "input_file", file_data: url, filename },
      { type: "input_text", text: "What is this?" }
    ]
    return from === "prompt"
      ? { model, max_output_tokens: 99, input: [{ role: "user", content }] }
      : {
          model,
          max_output_tokens: 99,
          tools: [{ type: "function", name: "look", parameters: { type: "object" } }],
          input: [
            { role: "user", content: "Look" },
            { type: "function_call", call_id: "c", name: "look", arguments: "{}" },
            { type: "function_call_output", call_id: "c", output: content }
          ]
        }
  },
  "/messages": (model, from, title) => {
    const content = [document(title), { type: "text", text: "What is this?" }]
    return from === "prompt"
      ? { model, max_tokens: 99, messages: [{ role: "user", content }] }
      : {
          model,
          max_tokens: 99,
          tools: [{ name: "look", input_schema: { type: "object" } }],
          messages: [
            { role: "user", content: "Look" },
            { role: "assistant", content: [{ type: "tool_use", id: "c", name: "look", input: {} }] },
            { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content }] }
          ]
        }
  }
}

/** A host with a vendor's wire format that gives one answer to every request, plain or streamed, and records the bodies. */
const hostOf = (vendor: Vendor) =>
  Effect.gen(function* () {
    const bodies: Array<Frame> = []
    const { events, whole } = hosts[vendor]
    const { origin } = yield* upstream((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const body: Frame = JSON.parse(Buffer.concat(chunks).toString())
        bodies.push(body)
        if (body.stream !== true && request.url?.includes("streamGenerateContent") !== true) {
          return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole))
        }
        const written = events.map((event) => {
          const type = typeof event === "object" && "type" in event ? `event: ${event.type}\n` : ""
          return `${type}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`
        })
        return response.writeHead(200, { "content-type": "text/event-stream" }).end(written.join(""))
      })
    })
    return { bodies, origin }
  })

const gateway = Effect.gen(function* () {
  const [anthropic, gemini, openai] = [yield* hostOf("anthropic"), yield* hostOf("gemini"), yield* hostOf("openai")]
  const service = yield* startService({
    SANDBOX: "off",
    ANTHROPIC_API_KEY: "k",
    ANTHROPIC_BASE_URL: anthropic.origin,
    GEMINI_API_KEY: "k",
    GEMINI_BASE_URL: gemini.origin,
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: `${openai.origin}/v1`,
    OPENROUTER_API_KEY: "k",
    OPENROUTER_BASE_URL: `${openai.origin}/v1`
  })
  const { account, inferenceKey: key } = yield* service.account(10)
  return { anthropic, gemini, openai, service, key, balance: service.balance(account.id) }
})

const reasonOf = (response: Response) =>
  Effect.map(json(response), ({ error }) => [response.status, error.code, error.param, error.message])

const receiptsOf = (service: Service, key: string) =>
  Effect.map(Effect.flatMap(get(`${service.api}/requests?limit=100`, key), json), ({ data: all }) => all)

describe("a PDF file in a prompt", () => {
  it.live("reaches each vendor's host in its own wire format, from every dialect, plain and streamed", () =>
    Effect.gen(function* () {
      const { key, service, ...others } = yield* gateway
      for (const vendor of ["anthropic", "gemini", "openai"] as const) {
        const { model, sent } = hosts[vendor]
        const { bodies } = others[vendor]
        for (const [path, requestOf] of Object.entries(dialects)) {
          for (const from of ["prompt", "result"] as const) {
            for (const name of [undefined, "report.pdf"]) {
              for (const stream of [false, true]) {
                const what = `${vendor} ${path} ${from} ${name} ${stream}`
                const answer = yield* post(service.api + path, key, { ...requestOf(model, from, name), stream })
                const text = yield* Effect.promise(() => answer.text())
                assert.strictEqual(answer.status, 200, `${what}: ${text}`)
                assert.include(text, "seen", what)
                if (stream) assert.isAbove(text.split("\n\n").length, 2, what)
                sent(bodies.at(-1)!, from, name)
              }
            }
          }
        }
        assert.strictEqual(bodies.length, 24)
      }
      const receipts = yield* receiptsOf(service, key)
      assert.isTrue(receipts.every((one: { status: string }) => one.status === "succeeded"))
      assert.notInclude(JSON.stringify(receipts), data.slice(0, 40))
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("keeps its title and context for each vendor, also over OpenAI's responses with tools and reasoning", () =>
    Effect.gen(function* () {
      const { anthropic, gemini, key, openai, service } = yield* gateway
      const block = { ...document("report.pdf"), context: "Of last year", cache_control: { type: "ephemeral" } }
      const ask = (model: string, more: object = {}) =>
        post(`${service.api}/messages`, key, {
          model,
          max_tokens: 99,
          messages: [{ role: "user", content: [block] }],
          ...more
        })
      for (const model of ["claude-sonnet-4-5", "gemini-2.5-flash", "gpt-4o-mini"]) {
        assert.strictEqual((yield* ask(model)).status, 200)
      }
      assert.deepStrictEqual(anthropic.bodies.at(-1).messages[0].content, [block])
      assert.deepStrictEqual(gemini.bodies.at(-1).contents[0].parts, [
        { text: "report.pdf" },
        { text: "Of last year" },
        inline
      ])
      assert.deepStrictEqual(openai.bodies.at(-1).messages[0].content, [
        { type: "text", text: "Of last year" },
        { type: "file", file: fileOf("report.pdf") }
      ])
      const tools = [{ name: "look", input_schema: { type: "object" } }]
      yield* ask("gpt-5.5", { tools, thinking: { type: "enabled", budget_tokens: 2_048 }, max_tokens: 4_096 })
      assert.deepStrictEqual(openai.bodies.at(-1).input[0].content, [
        { type: "input_text", text: "Of last year" },
        { type: "input_file", ...fileOf("report.pdf") }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("gets 400 with its field before the hold when no provider of the model reads PDFs", () =>
    Effect.gen(function* () {
      const { balance, key, openai, service } = yield* gateway
      const fields = {
        "/chat/completions": "messages[0].content[0].file.file_data",
        "/responses": "input[0].content[0].file_data",
        "/messages": "messages[0].content[0].source.data"
      }
      for (const [path, field] of Object.entries(fields)) {
        for (const model of ["deepseek-v3.2", "qwen/qwen3.7-plus", "o3-mini"]) {
          const [status, code, param] = yield* reasonOf(
            yield* post(service.api + path, key, dialects[path]!(model, "prompt"))
          )
          assert.deepStrictEqual([status, code, param], [400, "unsupported_parameter", field], `${path} ${model}`)
        }
      }
      assert.deepStrictEqual(openai.bodies, [])
      // The model of the chain that reads PDFs serves.
      const chain = { ...dialects["/chat/completions"]!("x", "prompt"), model: "qwen/qwen3.7-plus,gpt-4o-mini" }
      const answer = yield* json(yield* post(`${service.api}/chat/completions`, key, chain))
      assert.deepStrictEqual([answer.resolved_model, answer.provider], ["gpt-4o-mini", "openai"])
      const auto = yield* json(
        yield* post(`${service.api}/chat/completions`, key, dialects["/chat/completions"]!("svc/auto", "prompt"))
      )
      assert.include(["anthropic", "gemini", "openai"], auto.provider)
      assert.strictEqual((yield* balance).held, 0n)
    }).pipe(Effect.scoped)
  )

  it.live(
    "gets 400 with its field and no charge when its pages cannot be counted, are too many, or are not sent inline",
    () =>
      Effect.gen(function* () {
        const { balance, key, openai, service } = yield* gateway
        const cases: ReadonlyArray<readonly [Buffer, string]> = [
          [Buffer.from("hello!"), "must be a PDF file"],
          [pdfOf({ 1: "<< /Pages 2 0 R >>", 2: "<< /Kids [2 0 R] >>" }), "whose pages can be counted"],
          [pdfOf({ 1: "<< /Pages 2 0 R >>" }, "/Encrypt 9 0 R"), "without encryption"],
          [pdfWith(Array.from({ length: 101 }, () => "x")), "at most 100 pages"]
        ]
        for (const [wrong, message] of cases) {
          const content = [{ type: "file", file: { file_data: pdfUrl(wrong) } }]
          const asked = { model: "gpt-4o-mini", messages: [{ role: "user", content }] }
          const [status, code, param, said] = yield* reasonOf(
            yield* post(`${service.api}/chat/completions`, key, asked)
          )
          assert.deepStrictEqual(
            [status, code, param],
            [400, "validation_error", "messages[0].content[0].file.file_data"],
            message
          )
          assert.include(said, message)
        }
        for (const [source, param] of [
          [{ type: "url", url: "https://example.com/a.pdf" }, "messages[0].content[0].source.type"],
          [{ type: "file", file_id: "file_1" }, "messages[0].content[0].source.type"],
          [{ type: "base64", media_type: "application/pdf", data: "JVBERi0-" }, "messages[0].content[0].source.data"]
        ] as const) {
          const content = [{ type: "document", source }]
          const asked = { model: "claude-sonnet-4-5", max_tokens: 9, messages: [{ role: "user", content }] }
          assert.strictEqual((yield* reasonOf(yield* post(`${service.api}/messages`, key, asked)))[2], param)
        }
        for (const [part, param] of [
          [{ type: "input_file", file_url: "https://example.com/a.pdf" }, "input[0].content[0].file_url"],
          [{ type: "input_file", file_id: "file_1" }, "input[0].content[0].file_id"]
        ] as const) {
          const asked = { model: "gpt-4o-mini", input: [{ role: "user", content: [part] }] }
          assert.strictEqual((yield* reasonOf(yield* post(`${service.api}/responses`, key, asked)))[2], param)
        }
        assert.deepStrictEqual(openai.bodies, [])
        assert.deepStrictEqual(yield* balance, { posted: TEN_DOLLARS, held: 0n })
      }).pipe(Effect.scoped)
  )

  it.live(
    "is held for by its pages and text, counts as prompt tokens, and is part of an idempotency key's request",
    () =>
      Effect.gen(function* () {
        const { balance, key, openai, service } = yield* gateway
        const requestOf = dialects["/messages"]!
        const counted = yield* post(
          `${service.api}/messages/count_tokens`,
          key,
          requestOf("claude-sonnet-4-5", "prompt")
        )
        assert.isAbove((yield* json(counted)).input_tokens, 2 * 765)
        const dense = pdfOf({
          1: "<< /Pages 2 0 R >>",
          2: "<< /Kids [3 0 R] >>",
          3: "<< /Type /Page /Contents 4 0 R >>",
          4: `<< /Length 0 >>\nstream\n${linesOf("dense words ".repeat(2_000))}\nendstream`
        })
        const hold = (pdf: Buffer) =>
          Effect.map(
            Effect.flatMap(
              post(`${service.api}/estimate`, key, {
                model: "claude-sonnet-4-5",
                max_tokens: 1,
                messages: [{ role: "user", content: [{ type: "file", file: { file_data: pdfUrl(pdf) } }] }]
              }),
              json
            ),
            ({ hold_usd }) => hold_usd as number
          )
        // Holds use the cache write rate of $3.75 per million tokens: 8,192 tokens a page, and one for each byte of its text beyond 3,000.
        const rate = 3.75 / 1_000_000
        assert.isAtLeast(yield* hold(file), 2 * 8_192 * rate)
        assert.isBelow(yield* hold(file), 2 * 8_192 * rate * 1.1)
        assert.isAtLeast(yield* hold(dense), (8_192 + 21_000) * rate)
        const again = { "idempotency-key": "one" }
        const ask = post(`${service.api}/messages`, key, requestOf("gpt-4o-mini", "prompt"), again)
        const first = yield* json(yield* ask)
        const second = yield* ask
        assert.strictEqual(second.headers.get("idempotency-replayed"), "true")
        assert.deepStrictEqual((yield* json(second)).content, first.content)
        assert.strictEqual(openai.bodies.length, 1)
        const other = post(`${service.api}/messages`, key, requestOf("gpt-4o-mini", "prompt", "b.pdf"), again)
        assert.strictEqual((yield* other).status, 422)
        // 3,000 × $0.15 + 9 × $0.60, per million.
        assert.deepStrictEqual(yield* balance, { posted: TEN_DOLLARS - 455_400n, held: 0n })
      }).pipe(Effect.scoped)
  )
})
