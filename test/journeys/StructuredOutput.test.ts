/** Structured output from models that do not guarantee it: the check, the fallback, the charge and the breakers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schedule } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import OpenAI from "openai"
import { zodResponseFormat } from "openai/helpers/zod"
import { z } from "zod"
import { rules } from "../../src/providers/pool/Breaker.ts"
import { endedReceiptOf } from "../support/ReadReceipts.ts"
import { json, post, startService } from "../support/Service.ts"
import { frames, lastFrame, textOf } from "../support/Streams.ts"

/** Models of the catalogue: one without JSON mode, one with JSON mode only, and one with structured outputs. */
const [PLAIN, JSON_MODE, NATIVE] = ["nova-pro", "meta-llama/llama-3.1-8b-instruct", "gpt-4o-mini"] as const

const schema = {
  type: "object",
  properties: { degrees: { type: "integer" }, sky: { enum: ["clear", "grey"] } },
  required: ["degrees", "sky"],
  additionalProperties: false
}
const response_format = { type: "json_schema", json_schema: { name: "weather", strict: true, schema } }
const good = '{"degrees": 7, "sky": "grey"}'

const body = (more: object) => ({
  messages: [{ role: "user", content: "How is the weather in Oslo?" }],
  max_tokens: 200,
  response_format,
  ...more
})

const steered = (text: string) => ({ "x-svc-sandbox": `text=${encodeURIComponent(text)}` })

const scene = Effect.fnUntraced(function* (env: Record<string, string> = {}) {
  const service = yield* startService(env)
  const { account, inferenceKey: key } = yield* service.account(10)
  const ask = (more: object, headers: Record<string, string> = {}) =>
    post(`${service.api}/chat/completions`, key, body(more), headers)
  const spent = Effect.map(service.balance(account.id), ({ held, posted }) => ({
    held,
    spent: 10_000_000_000n - posted
  }))
  return { service, key, ask, spent }
})

const nothing = { held: 0n, spent: 0n }

describe("structured output", () => {
  it.live("is extracted from the code fence of a model without structured outputs, plain and streamed", () =>
    Effect.gen(function* () {
      const { ask, service } = yield* scene()
      for (const model of [PLAIN, JSON_MODE]) {
        const sample = yield* json(yield* ask({ model }))
        assert.deepStrictEqual(JSON.parse(sample.choices[0].message.content), { degrees: 1, sky: "clear" })
        const headers = steered(`Sure:\n\`\`\`json\n${good}\n\`\`\``)
        const whole = yield* json(yield* ask({ model }, headers))
        assert.strictEqual(whole.choices[0].message.content, good)
        const streamed = yield* frames(yield* ask({ model, stream: true }, headers))
        assert.strictEqual(textOf(streamed), good)
        assert.strictEqual(streamed.at(-1), "[DONE]")
        assert.strictEqual(lastFrame(streamed).usage.completion_tokens, whole.usage.completion_tokens)
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("falls back to the next model when the answer violates the schema, and only the last one is charged", () =>
    Effect.gen(function* () {
      const { ask, key, service, spent } = yield* scene()
      const chain = { model: PLAIN, models: [NATIVE] }
      for (const stream of [false, true]) {
        const before = yield* spent
        const response = yield* ask({ ...chain, stream }, steered("I cannot say."))
        assert.strictEqual(response.status, 200)
        const id = response.headers.get("x-request-id") ?? ""
        const text = stream ? textOf(yield* frames(response)) : (yield* json(response)).choices[0].message.content
        // The simulated model with structured outputs gives the same text, which is not checked.
        assert.strictEqual(text, "I cannot say.")
        const receipt = yield* endedReceiptOf(service, key, id)
        const attempts: ReadonlyArray<{ model: string; outcome: string }> = receipt.routing.provider_attempts
        assert.strictEqual(attempts.at(-1)?.outcome, "served")
        assert.isTrue(attempts.slice(0, -1).every(({ outcome }) => outcome === "failed_over"))
        assert.isAtLeast(attempts.length, 2)
        assert.strictEqual(receipt.resolved_model, NATIVE)
        const { price, usage } = receipt
        const cost = usage.input_tokens * price.input + usage.output_tokens * price.output
        const after = yield* spent
        assert.closeTo(Number(after.spent - before.spent) / 1e9, cost, 1e-9)
        assert.strictEqual(after.held, 0n)
      }
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "that no provider delivers is a 502 that names the violation, without a charge, and a 400 after too many failures",
    () =>
      Effect.gen(function* () {
        const { ask, service, spent } = yield* scene()
        for (const stream of [false, true]) {
          const response = yield* ask({ model: PLAIN, stream }, steered('{"degrees":"SECRET","sky":"grey"}'))
          const { error } = yield* json(response)
          assert.deepStrictEqual([response.status, error.type, error.code], [502, "upstream_error", "upstream_error"])
          assert.include(error.message, "the answer did not meet the schema (#/degrees: type)")
          assert.notInclude(error.message, "SECRET")
          assert.strictEqual(response.headers.get("x-should-retry"), "true")
        }
        yield* ask({ model: PLAIN }, steered("no"))
        const braked = yield* ask({ model: PLAIN }, steered("no"))
        const { error } = yield* json(braked)
        assert.deepStrictEqual([braked.status, error.code], [400, "validation_error"])
        assert.include(error.message, "too many answers failed it")
        assert.strictEqual(braked.headers.get("x-should-retry"), "false")
        assert.deepStrictEqual(yield* spent, nothing)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )

  it.live("of type json_object must be an object", () =>
    Effect.gen(function* () {
      const { ask } = yield* scene()
      const any = { model: PLAIN, response_format: { type: "json_object" } }
      const fine = yield* json(yield* ask(any, steered('Here: {"a":[1]}')))
      assert.strictEqual(fine.choices[0].message.content, '{"a":[1]}')
      assert.strictEqual((yield* ask(any, steered("[1]"))).status, 502)
    }).pipe(Effect.scoped)
  )

  it.live("may be cut by max_tokens, and may be a tool call instead", () =>
    Effect.gen(function* () {
      const { ask, spent } = yield* scene()
      const cut = yield* json(yield* ask({ model: PLAIN, max_tokens: 2 }))
      assert.strictEqual(cut.choices[0].finish_reason, "length")
      assert.strictEqual(cut.usage.completion_tokens, 2)
      const tools = [{ type: "function", function: { name: "look" } }]
      const called = yield* json(yield* ask({ model: PLAIN, tools }))
      assert.strictEqual(called.choices[0].message.tool_calls[0].function.name, "look")
      assert.isAbove(Number((yield* spent).spent), 0)
    }).pipe(Effect.scoped)
  )

  it.live("has the error code of its provider's failure, without a charge", () =>
    Effect.gen(function* () {
      const { ask, service, spent } = yield* scene()
      const cases = [
        ["fault=malformed", "upstream_error"],
        ["fault=break", "upstream_error"],
        ["fault=empty", "empty_completion"],
        ["fault=error", "upstream_error"]
      ] as const
      for (const [steering, code] of cases) {
        for (const stream of [false, true]) {
          const response = yield* ask({ model: PLAIN, stream }, { "x-svc-sandbox": steering })
          assert.strictEqual((yield* json(response)).error.code, code, steering)
        }
      }
      assert.deepStrictEqual(yield* spent, nothing)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("gets 400 before any provider is called when its schema is too large or cannot be checked", () =>
    Effect.gen(function* () {
      const { ask, spent } = yield* scene()
      const refused = (wrong: object, model: string) =>
        Effect.gen(function* () {
          const format = { type: "json_schema", json_schema: { name: "n", schema: wrong } }
          const response = yield* ask({ model, response_format: format })
          const { error } = yield* json(response)
          assert.deepStrictEqual([response.status, error.code], [400, "validation_error"])
          return error
        })
      const field = "response_format.json_schema.schema"
      for (const model of [PLAIN, NATIVE]) {
        assert.strictEqual((yield* refused({ title: "x".repeat(65_536) }, model)).param, field)
      }
      const { message, param } = yield* refused({ $ref: "#/$defs/none" }, PLAIN)
      assert.strictEqual(param, field)
      assert.include(message, "because these models do not guarantee it: a `$ref` must have a target in the schema")
      assert.include((yield* refused({ type: "strng" }, PLAIN)).message, "`type` must be a type of JSON Schema")
      assert.deepStrictEqual(yield* spent, nothing)
    }).pipe(Effect.scoped)
  )
})

describe("a schema that takes too long to check", () => {
  it.live("fails its own request and does not block the node", () =>
    Effect.gen(function* () {
      const { ask, service, spent } = yield* scene()
      const hostile = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } }
      const format = { type: "json_schema", json_schema: { name: "n", schema: hostile } }
      const text = JSON.stringify({ a: `${"a".repeat(64)}!` })
      const bad = yield* Effect.forkChild(ask({ model: JSON_MODE, response_format: format }, steered(text)), {
        startImmediately: true
      })
      let others = 0
      while (bad.pollUnsafe() === undefined) {
        const live = yield* Effect.promise(() => fetch(`${service.ops}/livez`))
        yield* Effect.promise(() => live.arrayBuffer())
        others++
      }
      const response = yield* Effect.flatten(Effect.sync(() => bad.pollUnsafe() ?? Effect.die("not over")))
      const { error } = yield* json(response)
      assert.include(error.message, "checking it took too long")
      assert.isAbove(others, 1)
      assert.deepStrictEqual(yield* spent, nothing)
      assert.strictEqual((yield* ask({ model: JSON_MODE })).status, 200)
    }).pipe(Effect.scoped)
  )
})

describe("an own host whose model has no structured outputs", () => {
  interface OwnHost {
    readonly port: number
    /** The content of its answer. If undefined, it never answers. */
    said: string | undefined
    readonly bodies: Array<string>
    /** The calls that the gateway closed before their answer. */
    left: number
    readonly close: () => void
  }

  const answerOf = (content: string) =>
    JSON.stringify({
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
      usage: { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 }
    })

  const startHost = Effect.acquireRelease(
    Effect.callback<OwnHost>((resume) => {
      const server = createServer((request, response) => {
        let text = ""
        request.setEncoding("utf8").on("data", (more) => (text += more))
        request.on("end", () => {
          host.bodies.push(text)
          response.on("close", () => {
            if (!response.writableFinished) host.left++
          })
          if (host.said === undefined) return
          response.writeHead(200, { "content-type": "application/json" })
          response.end(answerOf(host.said))
        })
      })
      const host: OwnHost = {
        port: 0,
        said: "I cannot say.",
        bodies: [],
        left: 0,
        close: () => {
          server.close()
          server.closeAllConnections()
        }
      }
      server.listen(0, "127.0.0.1", () =>
        resume(Effect.sync(() => Object.assign(host, { port: (server.address() as AddressInfo).port })))
      )
    }),
    ({ close }) => Effect.sync(close)
  )

  const hostsFile = (port: number) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const directory = mkdtempSync(join(tmpdir(), "tollgate-hosts-"))
        const path = join(directory, "hosts.json")
        const entry = { id: "own", base_url: `http://127.0.0.1:${port}/v1`, models: { [JSON_MODE]: "llama" } }
        writeFileSync(path, JSON.stringify([entry]))
        return { directory, path }
      }),
      ({ directory }) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
    )

  const until = (there: () => boolean) =>
    Effect.map(
      Effect.repeat(Effect.sync(there), { until: (is) => is, schedule: Schedule.spaced("10 millis"), times: 2_000 }),
      (is) => assert.isTrue(is)
    )

  const own = Effect.gen(function* () {
    const host = yield* startHost
    const { path } = yield* hostsFile(host.port)
    const env = { PROVIDERS_FILE: path, OUTBOUND_ALLOW_LOOPBACK: "1", SANDBOX: "off" }
    return { host, ...(yield* scene(env)) }
  })

  it.live("gets the schema in the prompt, and keeps its breaker closed when its answers violate the schema", () =>
    Effect.gen(function* () {
      const { ask, host, service, spent } = yield* own
      const times = rules.consecutive + 2
      for (let request = 0; request < times; request++) {
        // After too many violations of one schema, the gateway stops sending it.
        const json_schema = { name: "weather", schema: { ...schema, title: `${request}` } }
        const form = { response_format: { type: "json_schema", json_schema } }
        assert.strictEqual((yield* ask({ model: JSON_MODE, stream: request % 2 === 1, ...form })).status, 502)
      }
      assert.lengthOf(host.bodies, times)
      assert.deepStrictEqual(yield* spent, nothing)
      const metrics = yield* Effect.promise(() => fetch(`${service.ops}/metrics`).then((response) => response.text()))
      assert.match(metrics, /^svc_provider_breakers_open\{.*\} 0$/m)
      assert.notMatch(metrics, /^svc_provider_breakers_open\{.*\} [^0]/m)
      host.said = `It is ${good}.`
      const answered = yield* json(yield* ask({ model: JSON_MODE }))
      assert.strictEqual(answered.choices[0].message.content, good)
      const sent = JSON.parse(host.bodies.at(-1) ?? "")
      assert.deepStrictEqual(sent.response_format, { type: "json_object" })
      assert.isTrue(sent.messages[0].role === "system" && sent.messages[0].content.includes(JSON.stringify(schema)))
      assert.isAbove(Number((yield* spent).spent), 0)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("is held for in full also when streamed, and is closed without a charge when the client disconnects", () =>
    Effect.gen(function* () {
      const { host, key, service, spent } = yield* own
      host.said = undefined
      const held: Array<bigint> = []
      for (const stream of [true, false]) {
        const controller = new AbortController()
        const asked = fetch(`${service.api}/chat/completions`, {
          method: "POST",
          signal: controller.signal,
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify(body({ model: JSON_MODE, stream, max_tokens: null }))
        })
        const gone = yield* Effect.forkChild(Effect.exit(Effect.tryPromise(() => asked)), { startImmediately: true })
        yield* until(() => host.bodies.length > held.length)
        held.push((yield* spent).held)
        controller.abort()
        assert.isTrue(Exit.isFailure(yield* Fiber.join(gone)))
        yield* until(() => host.left === held.length)
        const over = { until: (now: typeof nothing) => now.held === 0n, schedule: Schedule.spaced("10 millis") }
        assert.deepStrictEqual(yield* Effect.repeat(spent, { ...over, times: 2_000 }), nothing)
      }
      assert.isAbove(Number(held[0]), 0)
      assert.strictEqual(held[0], held[1])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})

describe("OpenAI's client", () => {
  it.live("parses a Zod schema from a model without structured outputs", () =>
    Effect.gen(function* () {
      const { key, service } = yield* scene()
      const client = new OpenAI({ apiKey: key, baseURL: service.api })
      const Weather = z.object({
        city: z.string().min(3),
        degrees: z.number().int(),
        sky: z.enum(["clear", "grey"]),
        wind: z.union([z.object({ speed: z.number() }), z.null()]),
        hours: z.array(z.object({ at: z.string(), rain: z.boolean().nullable() }))
      })
      const params = {
        model: PLAIN,
        messages: [{ role: "user" as const, content: "How is the weather?" }],
        response_format: zodResponseFormat(Weather, "weather")
      }
      const whole = yield* Effect.promise(() => client.chat.completions.parse(params))
      const parsed = whole.choices[0]?.message.parsed
      assert.strictEqual(parsed?.sky, "clear")
      assert.isTrue(Number.isInteger(parsed?.degrees))
      const streamed = yield* Effect.promise(() => client.chat.completions.stream(params).finalChatCompletion())
      assert.deepStrictEqual(streamed.choices[0]?.message.parsed, parsed)
    }).pipe(Effect.scoped)
  )
})
