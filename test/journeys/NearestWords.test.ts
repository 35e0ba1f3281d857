/** Values that a provider's wire format does not have. The gateway sends the nearest value that it accepts. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstream } from "../providers/upstream.ts"
import { json, post, startService } from "../support/Service.ts"

const MODEL = "gpt-5.2"
const image =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** A gateway with a host that speaks OpenAI's chat format, and the bodies that the host receives. */
const scene = Effect.gen(function* () {
  // oxlint-disable-next-line typescript/no-explicit-any
  const sent: Array<any> = []
  const { origin } = yield* upstream((request, response) => {
    let text = ""
    request.on("data", (piece) => (text += piece))
    request.on("end", () => {
      sent.push(JSON.parse(text))
      const choices = [{ index: 0, message: { role: "assistant", content: "A dot." }, finish_reason: "stop" }]
      const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
      response.setHeader("content-type", "application/json").end(JSON.stringify({ choices, usage }))
    })
  })
  const service = yield* startService({ SANDBOX: "off", OPENAI_API_KEY: "planted", OPENAI_BASE_URL: `${origin}/v1` })
  const { inferenceKey } = yield* service.account(10)
  const ask = (path: string, body: object) => post(`${service.api}${path}`, inferenceKey, { model: MODEL, ...body })
  return { ask, sent }
})

const chat = (more: object, detail?: string) => ({
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "image_url", image_url: { url: image, detail } }
      ]
    }
  ],
  ...more
})

const response = (more: object, detail?: string) => ({
  input: [
    {
      role: "user",
      content: [
        { type: "input_text", text: "What is it?" },
        { type: "input_image", image_url: image, detail }
      ]
    }
  ],
  ...more
})

describe("a value that the provider does not accept", () => {
  it.live("is replaced by the nearest one: detail high for original", () =>
    Effect.gen(function* () {
      const { ask, sent } = yield* scene
      for (const [path, body] of [
        ["/chat/completions", chat({}, "original")],
        ["/responses", response({}, "original")]
      ] as const) {
        assert.strictEqual((yield* ask(path, body)).status, 200, path)
        const [, part] = sent.at(-1).messages[0].content
        assert.deepStrictEqual(part, { type: "image_url", image_url: { url: image, detail: "high" } }, path)
      }
      assert.strictEqual((yield* ask("/chat/completions", chat({}, "best"))).status, 400)
    }).pipe(Effect.scoped)
  )

  it.live(
    "is replaced by the nearest one: effort xhigh for max, except in `reasoning.effort` of chat, which gets 400",
    () =>
      Effect.gen(function* () {
        const { ask, sent } = yield* scene
        for (const [path, body] of [
          ["/chat/completions", chat({ reasoning_effort: "max" })],
          ["/responses", response({ reasoning: { effort: "max" } })],
          [
            "/messages",
            {
              max_tokens: 50,
              messages: [{ role: "user", content: "Hi" }],
              thinking: { type: "adaptive" },
              output_config: { effort: "max" }
            }
          ]
        ] as const) {
          assert.strictEqual((yield* ask(path, body)).status, 200, path)
          assert.strictEqual(sent.at(-1).reasoning_effort, "xhigh", path)
        }
        const closed = yield* ask("/chat/completions", chat({ reasoning: { effort: "max" } }))
        assert.strictEqual(closed.status, 400)
        assert.strictEqual((yield* json(closed)).error.param, "reasoning.effort")
      }).pipe(Effect.scoped)
  )
})
