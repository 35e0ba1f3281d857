import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import { upstream } from "../providers/upstream.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"
import { frames, textOf } from "../support/Streams.ts"

const PNG = Buffer.from("89504e470d0a1a0a0000000d", "hex")
const GIF = Buffer.from("474946383961010001008000", "hex")
const png = `data:image/png;base64,${PNG.toString("base64")}`
const FIELD = "messages[0].content[1].image_url.url"
const PROVIDER_KEY = "sk-planted-provider-key"
const TEN_DOLLARS = 10_000_000_000n

const showing = (url: string, more: object = {}) => ({
  model: "gpt-4o-mini",
  max_tokens: 100,
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url } }
      ]
    }
  ],
  ...more
})

/** A provider with OpenAI's wire format that serves every request and records the bodies. */
const provider = Effect.gen(function* () {
  const bodies: Array<string> = []
  const { origin } = yield* upstream((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString()
      bodies.push(body)
      const usage = { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 }
      const choice = (said: object) => [{ index: 0, ...said, finish_reason: "stop" }]
      const content = "A cat"
      if (body.includes('"stream":true')) {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.end(`data: ${JSON.stringify({ choices: choice({ delta: { content } }), usage })}\n\ndata: [DONE]\n\n`)
      } else {
        response.writeHead(200, { "content-type": "application/json" })
        response.end(JSON.stringify({ choices: choice({ message: { role: "assistant", content } }), usage }))
      }
    })
  })
  return { bodies, origin }
})

/** A host of images that answers by path and records the headers. */
const imageHost = Effect.gen(function* () {
  const told: Array<IncomingHttpHeaders> = []
  const arrived = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<void>()
  const { connections, origin } = yield* upstream((request, response) => {
    told.push(request.headers)
    switch (request.url) {
      case "/cat.png":
        return response.end(PNG)
      case "/wave.gif":
        return response.end(GIF)
      case "/huge":
        response.writeHead(200, { "content-length": 21 * 1_048_576 })
        return response.flushHeaders()
      case "/page":
        return response.end("<html>")
      case "/moved":
        return response.writeHead(302, { location: "/cat.png" }).end()
      case "/silent":
        response.on("close", () => Deferred.doneUnsafe(closed, Exit.void))
        Deferred.doneUnsafe(arrived, Exit.void)
        return response
      default:
        return response.writeHead(404).end()
    }
  })
  return { arrived: Deferred.await(arrived), closed: Deferred.await(closed), connections, origin, told }
})

const scene = (env: Record<string, string>) =>
  Effect.gen(function* () {
    const [host, images] = [yield* provider, yield* imageHost]
    const service = yield* startService({
      SANDBOX: "off",
      OPENAI_API_KEY: PROVIDER_KEY,
      OPENAI_BASE_URL: `${host.origin}/v1`,
      ...env
    })
    const { account, inferenceKey } = yield* service.account(10)
    return {
      balance: service.balance(account.id),
      chat: (body: object, headers: Record<string, string> = {}) =>
        post(`${service.api}/chat/completions`, inferenceKey, body, headers),
      host,
      images,
      key: inferenceKey,
      service
    }
  })

const loopback = { OUTBOUND_ALLOW_LOOPBACK: "1" }

const errorOf = (response: Response) =>
  Effect.map(json(response), ({ error }) => ({ status: response.status, code: error.code, param: error.param }))

const receipts = (service: Service, key: string) =>
  Effect.map(Effect.flatMap(get(`${service.api}/requests?limit=100`, key), json), ({ data }) => data)

describe("an image in a prompt", () => {
  it.live("reaches the provider as bytes, and the request for it tells its host nothing of client or provider", () =>
    Effect.gen(function* () {
      const { balance, chat, host, images, key, service } = yield* scene(loopback)
      const url = `${images.origin}/cat.png`
      const tool = {
        messages: [
          { role: "user", content: "Look" },
          {
            role: "assistant",
            tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }]
          },
          { role: "tool", tool_call_id: "c", content: [{ type: "image_url", image_url: { url } }] }
        ],
        tools: [{ type: "function", function: { name: "look" } }]
      }
      const traced = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", cookie: "session=1" }
      const whole = yield* chat(showing(url), traced)
      assert.strictEqual((yield* json(whole)).choices[0].message.content, "A cat")
      assert.strictEqual(textOf(yield* frames(yield* chat(showing(url, { stream: true })))), "A cat")
      assert.strictEqual((yield* chat({ ...showing(url), ...tool })).status, 200)
      assert.strictEqual(host.bodies.length, 3)
      for (const body of host.bodies) {
        assert.include(body, png)
        assert.notInclude(body, images.origin)
      }
      // The headers are the same for every client and provider.
      assert.strictEqual(images.told.length, 3)
      for (const headers of images.told) {
        assert.deepStrictEqual(headers, {
          host: new URL(images.origin).host,
          accept: "image/png, image/jpeg, image/gif, image/webp",
          "user-agent": "tollgate",
          "accept-encoding": "identity",
          connection: "close"
        })
      }
      // $0.15 a million tokens in, $0.60 out: 1,000 × 150 + 10 × 600 nano-USD, three times.
      assert.deepStrictEqual(yield* balance, { posted: TEN_DOLLARS - 3n * 156_000n, held: 0n })
      assert.deepStrictEqual(
        (yield* receipts(service, key)).map((one: { status: string }) => one.status),
        ["succeeded", "succeeded", "succeeded"]
      )
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("at an address that is not public gets 400 before any hold or connection", () =>
    Effect.gen(function* () {
      const { balance, chat, host, images, key, service } = yield* scene({})
      const { port } = new URL(images.origin)
      const refused = { status: 400, code: "validation_error", param: FIELD }
      const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `2130706433:${port}`, `[::ffff:127.0.0.1]:${port}`]
      for (const address of [...hosts, "169.254.169.254", "10.0.0.1", "user:pass@example.com"]) {
        for (const scheme of ["http", "https"]) {
          for (const stream of [false, true]) {
            const url = `${scheme}://${address}/cat.png`
            assert.deepStrictEqual(yield* errorOf(yield* chat(showing(url, { stream }))), refused, url)
          }
        }
      }
      assert.deepStrictEqual([images.connections(), host.bodies], [0, []])
      assert.deepStrictEqual(yield* balance, { posted: TEN_DOLLARS, held: 0n })
      assert.deepStrictEqual(yield* receipts(service, key), [])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("that cannot be fetched costs nothing, and the idempotency key replays the refusal", () =>
    Effect.gen(function* () {
      const { balance, chat, host, images, key, service } = yield* scene(loopback)
      const cases = [
        ["/huge", 413, "image_too_large"],
        ["/page", 400, "validation_error"],
        ["/moved", 400, "validation_error"],
        ["/nowhere", 400, "validation_error"]
      ] as const
      for (const [path, status, code] of cases) {
        for (const stream of [false, true]) {
          const ask = chat(showing(images.origin + path, { stream }), { "idempotency-key": `${path}-${stream}` })
          const first = yield* ask
          assert.deepStrictEqual(yield* errorOf(first), { status, code, param: FIELD }, path)
          const asked = images.connections()
          const again = yield* ask
          assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
          assert.deepStrictEqual(yield* errorOf(again), { status, code, param: FIELD }, path)
          assert.strictEqual(images.connections(), asked)
        }
      }
      assert.deepStrictEqual(host.bodies, [])
      assert.deepStrictEqual(yield* balance, { posted: TEN_DOLLARS, held: 0n })
      for (const { cost_usd, routing, status } of yield* receipts(service, key)) {
        assert.deepStrictEqual([status, cost_usd, routing.provider_attempts], ["failed", 0, []])
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is no longer fetched after the client disconnects, and the hold is released", () =>
    Effect.gen(function* () {
      for (const stream of [false, true]) {
        const { balance, host, images, key, service } = yield* scene(loopback)
        const caller = new AbortController()
        const answer = fetch(`${service.api}/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify(showing(`${images.origin}/silent`, { stream })),
          signal: caller.signal
        }).catch(() => undefined)
        yield* images.arrived
        assert.isTrue((yield* balance).held > 0n)
        caller.abort()
        yield* images.closed
        yield* Effect.promise(() => answer)
        while ((yield* balance).held > 0n) yield* Effect.yieldNow
        assert.deepStrictEqual(yield* balance, { posted: TEN_DOLLARS, held: 0n })
        const [receipt, ...more] = yield* receipts(service, key)
        assert.deepStrictEqual([receipt.status, more, host.bodies], ["cancelled", [], []])
        assert.deepStrictEqual(yield* service.faults, [])
      }
    }).pipe(Effect.scoped)
  )

  it.live(
    "goes only to models with vision, also in a tool result, and is not fetched for other models or estimates",
    () =>
      Effect.gen(function* () {
        const images = yield* imageHost
        const service = yield* startService(loopback)
        const { inferenceKey } = yield* service.account(10)
        const blind = "deepseek-v3-0324"
        const fromTool = {
          messages: [
            { role: "user", content: "Look" },
            {
              role: "assistant",
              tool_calls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }]
            },
            {
              role: "tool",
              tool_call_id: "c",
              content: [{ type: "image_url", image_url: { url: `${images.origin}/cat.png` } }]
            }
          ],
          tools: [{ type: "function", function: { name: "look" } }]
        }
        const chat = (body: object) => post(`${service.api}/chat/completions`, inferenceKey, body)
        for (const more of [{}, fromTool]) {
          const ask = (model: string) => chat({ ...showing(`${images.origin}/cat.png`), ...more, model })
          const refused = { status: 400, code: "model_not_vision_capable", param: "model" }
          assert.deepStrictEqual(yield* errorOf(yield* ask(blind)), refused)
          assert.deepStrictEqual(yield* errorOf(yield* ask(`${blind},deepseek-r1-0528`)), refused)
          const asked = images.connections()
          for (const model of [`${blind},gpt-4o-mini`, "svc/auto"]) {
            const response = yield* ask(model)
            const answer = yield* json(response)
            assert.strictEqual(response.status, 200, JSON.stringify(answer))
            const found = yield* json(
              yield* get(`${service.api}/models/${answer.routing.resolved_model}`, inferenceKey)
            )
            assert.include(found.capabilities, "vision")
            if (model !== "svc/auto") assert.strictEqual(answer.routing.resolved_model, "gpt-4o-mini")
          }
          assert.strictEqual(images.connections(), asked + 2)
        }
        // An estimate fetches nothing.
        const asked = images.connections()
        const estimate = yield* post(`${service.api}/estimate`, inferenceKey, showing(`${images.origin}/silent`))
        assert.strictEqual(estimate.status, 200)
        assert.strictEqual(images.connections(), asked)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )

  it.live(
    "that is a GIF goes only to models that accept GIFs, and gets 400 with the name of the field for the others",
    () =>
      Effect.gen(function* () {
        const images = yield* imageHost
        const service = yield* startService(loopback)
        const { account, inferenceKey } = yield* service.account(10)
        const inline = `data:image/png;base64,${GIF.toString("base64")}`
        const fetched = `${images.origin}/wave.gif`
        const ask = (model: string, url: string) =>
          post(`${service.api}/chat/completions`, inferenceKey, { ...showing(url), model })
        for (const url of [inline, fetched]) {
          for (const model of ["gemini-2.5-flash", "grok-4"]) {
            const refused = yield* ask(model, url)
            const { error } = yield* json(refused)
            assert.deepStrictEqual([refused.status, error.code, error.param], [400, "validation_error", FIELD])
            assert.include(error.message, `must be a PNG, JPEG or WebP image for ${model}; got a GIF image`)
          }
        }
        assert.deepStrictEqual(yield* service.balance(account.id), { posted: TEN_DOLLARS, held: 0n })
        for (const url of [inline, fetched]) {
          for (const [model, served] of [
            ["gpt-4o-mini", "gpt-4o-mini"],
            ["claude-haiku-4-5", "claude-haiku-4-5"],
            ["gemini-2.5-flash,gpt-4o-mini", "gpt-4o-mini"]
          ] as const) {
            const answer = yield* json(yield* ask(model, url))
            assert.strictEqual(answer.routing?.resolved_model, served, JSON.stringify(answer))
          }
        }
        assert.strictEqual((yield* ask("gemini-2.5-flash", png)).status, 200)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )
})
