import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { makeXai } from "../../../src/providers/xai/Xai.ts"
import { candidate, chatCall } from "../calls.ts"
import { faultOf, withVideoHost, hearing, json } from "../videos.ts"
import { upstream } from "../upstream.ts"
import { videoWork, workCall } from "../work.ts"

const said = (content: string) => ({
  id: "1",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }]
})

const at = (origin: string) => makeXai({ id: "xai", baseUrl: `${origin}/v1`, apiKey: Redacted.make("sk-planted") })

layer(withVideoHost, { excludeTestServices: true })("xAI", (it) => {
  it.effect("chats through OpenAI's API, with an effort that it accepts", () =>
    Effect.gen(function* () {
      const { heard, origin } = yield* hearing((_, response) => json(response, 200, said("hi")))
      const provider = yield* at(origin)
      const call = chatCall({
        candidate: candidate("xai", { upstreamId: "grok-4.6", model: { capabilities: ["reasoning"] } })
      })
      const { text } = yield* provider.chat({
        ...call,
        conversation: { ...call.conversation, reasoning: { effort: "xhigh" } as never }
      })
      assert.strictEqual(text, "hi")
      const [asked] = heard
      assert.deepStrictEqual([asked?.url, asked?.headers.authorization], ["/v1/chat/completions", "Bearer sk-planted"])
      assert.deepInclude(asked?.body, { model: "grok-4.6", max_tokens: 1_000, reasoning_effort: "high" })
      assert.isFalse(provider.stopsBillingOnAbort)
    }).pipe(Effect.scoped)
  )

  it.effect("receives an effort only for models that accept it", () =>
    Effect.gen(function* () {
      const { heard, origin } = yield* hearing((_, response) => json(response, 200, said("hi")))
      const { chat } = yield* at(origin)
      const cases = [
        ...["grok-4-0709", "grok-4.20", "grok-code-fast-1"].map((model) => [model, undefined, undefined] as const),
        ["grok-4.3", "none", "high"],
        ["grok-4.5", "low", "high"],
        ["grok-4.6", "low", "high"],
        ["grok-build-0.1", "low", "high"]
      ] as const
      for (const [upstreamId, least, most] of cases) {
        heard.length = 0
        for (const effort of ["none", "high"] as const) {
          const call = chatCall({ candidate: candidate("xai", { upstreamId, model: { capabilities: ["reasoning"] } }) })
          const reasoning = { effort, maxTokens: undefined, enabled: undefined }
          yield* chat({ ...call, conversation: { ...call.conversation, reasoning } })
        }
        const told = heard.map(({ body }) => (body as { readonly reasoning_effort?: unknown }).reasoning_effort)
        assert.deepStrictEqual(told, [least, most], upstreamId)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("receives no sampling parameter that Grok rejects", () =>
    Effect.gen(function* () {
      const { origin } = yield* hearing(({ body }, response) => {
        const asked = body as Readonly<Record<string, unknown>>
        const not = ["presence_penalty", "frequency_penalty", "stop"].find((name) => name in asked)
        return not === undefined
          ? json(response, 200, said(String(asked["temperature"])))
          : json(response, 400, { code: "invalid-argument", error: `Model grok-4.6 does not support ${not}.` })
      })
      const grok = { vendor: "xai", supportedParameters: ["temperature", "top_p", "seed"] }
      const sampling = { temperature: 0.5, frequencyPenalty: 0, presencePenalty: 0, stop: ["END"] }
      const call = chatCall({ candidate: candidate("xai", { upstreamId: "grok-4.6", model: grok }) })
      const { chat } = yield* at(origin)
      const { text } = yield* chat({ ...call, conversation: { ...call.conversation, sampling } })
      assert.strictEqual(text, "0.5")
    }).pipe(Effect.scoped)
  )

  it.effect("does not blame the caller for the gateway's rejected key", () =>
    Effect.gen(function* () {
      const { origin } = yield* upstream((_, response) =>
        json(response, 400, { code: "invalid", error: "Incorrect API key provided: sk***" })
      )
      const { chat, chatStream, makeVideo } = yield* at(origin)
      const call = chatCall({ candidate: candidate("xai", { upstreamId: "grok-4.6" }) })
      for (const asked of [chat(call), Effect.scoped(chatStream(call)), makeVideo!(workCall(), videoWork())]) {
        assert.deepStrictEqual(yield* faultOf<unknown, never>(asked), { _tag: "Unauthorized", status: 401 })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("does not mistake the caller's text in an error for a rejected key", () =>
    Effect.gen(function* () {
      const error = "Invalid schema: 'Incorrect API key provided' is no type"
      const { origin } = yield* upstream((_, response) => json(response, 400, { code: "invalid", error }))
      const { chat } = yield* at(origin)
      const refused = { _tag: "Refused", status: 400, detail: error } as const
      assert.deepStrictEqual(yield* faultOf(chat(chatCall())), refused)
    }).pipe(Effect.scoped)
  )
})
