import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Redacted } from "effect"
import { Config } from "../../../src/platform/config/Config.ts"
import { loadProvidersFile } from "../../../src/platform/config/ProvidersFile.ts"

const models = new Set(["meta-llama/llama-3.3-70b-instruct", "qwen/qwen3-32b"])
const reserved = new Set(["openai", "anthropic"])

const load = (content: string, variables: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = yield* files.makeTempFileScoped({ prefix: "providers", suffix: ".json" })
    yield* files.writeFileString(path, content)
    const { providers } = yield* Config.pipe(Effect.provide(Config.layerFrom(variables)))
    const result = yield* Effect.result(loadProvidersFile({ path, models, reserved, keyFrom: providers.keyFrom }))
    return { path, result }
  }).pipe(Effect.provide(NodeFileSystem.layer))

const hostsOf = (content: unknown, variables: Record<string, string> = {}) =>
  Effect.flatMap(load(JSON.stringify(content), variables), ({ result }) => Effect.fromResult(result))

const ollama = {
  id: "ollama",
  base_url: "http://127.0.0.1:11434/v1",
  models: { "meta-llama/llama-3.3-70b-instruct": "llama3.3" }
}
const groq = {
  id: "groq",
  name: "Groq",
  base_url: "https://api.groq.com/openai/v1",
  api_key_env: "GROQ_API_KEY",
  trains_on_data: false,
  zero_retention: true,
  models: { "qwen/qwen3-32b": "qwen/qwen3-32b" }
}

describe("PROVIDERS_FILE", () => {
  it.effect("is read with the hosts' keys, and a host without a data policy counts as training on data", () =>
    Effect.gen(function* () {
      const [first, second, ...rest] = yield* hostsOf([ollama, groq], { GROQ_API_KEY: "gsk_1" })
      assert.isDefined(first)
      assert.isDefined(second)
      assert.isEmpty(rest)
      assert.deepInclude(first, { id: "ollama", name: "ollama", keyed: true, trainsOnData: true, zeroRetention: false })
      assert.isUndefined(first.apiKey)
      assert.strictEqual(first.baseUrl.href, "http://127.0.0.1:11434/v1")
      assert.deepStrictEqual([...first.models], [["meta-llama/llama-3.3-70b-instruct", "llama3.3"]])
      assert.deepInclude(second, { id: "groq", name: "Groq", keyed: true, trainsOnData: false, zeroRetention: true })
      assert.strictEqual(second.apiKey === undefined ? "" : Redacted.value(second.apiKey), "gsk_1")
    })
  )

  it.effect("marks a host without its key as not keyed", () =>
    Effect.gen(function* () {
      const [host] = yield* hostsOf([groq])
      assert.deepInclude(host, { keyed: false, apiKey: undefined })
    })
  )

  it.effect("may be empty", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* hostsOf([]), [])
    })
  )

  it.effect("keeps the quirks of a host and of its models, and derives the kind from the URL unless it is named", () =>
    Effect.gen(function* () {
      const quirks = { efforts: ["low", "max"], stream_options: false, headers: { "X-Team": "a" } } as const
      const mapped = { "qwen/qwen3-32b": { id: "qwen", quirks: { reasoning_off: { think: false } } } }
      const hosts = yield* hostsOf([
        { ...ollama, kind: "vllm", quirks, models: { ...ollama.models, ...mapped } },
        groq,
        { ...ollama, id: "own" },
        { ...ollama, id: "cloud", base_url: "https://eu.openai.azure.com/openai/v1" }
      ])
      assert.deepStrictEqual(
        hosts.map(({ wire }) => wire?.kind),
        ["vllm", "groq", undefined, "azure"]
      )
      const [first] = hosts
      assert.deepStrictEqual(first?.wire?.quirks, quirks)
      assert.deepStrictEqual(
        [...(first?.wire?.modelQuirks ?? [])],
        [["qwen/qwen3-32b", mapped["qwen/qwen3-32b"].quirks]]
      )
      assert.deepStrictEqual(
        [...(first?.models ?? [])],
        [
          ["meta-llama/llama-3.3-70b-instruct", "llama3.3"],
          ["qwen/qwen3-32b", "qwen"]
        ]
      )
    })
  )

  const quirk = (quirks: unknown) => [{ ...ollama, quirks }]
  const bad: ReadonlyArray<readonly [string, unknown, ReadonlyArray<string>]> = [
    ["an object instead of a list", { hosts: [] }, ["the whole"]],
    ["an entry without a URL", [{ id: "x", models: {} }], ["entry 1 (x), field base_url"]],
    [
      "a URL with a query",
      [{ ...ollama, base_url: "https://host/openai?api-version=1" }],
      ["entry 1 (ollama), field base_url", "without a query"]
    ],
    [
      "a URL with another protocol",
      [ollama, { ...groq, base_url: "ftp://x" }],
      ["entry 2 (groq), field base_url", "http"]
    ],
    ["an invalid id", [{ ...ollama, id: "My Host" }], ["entry 1 (My Host), field id", "lowercase"]],
    ["an unknown field", [{ ...ollama, baseUrl: "x" }], ["entry 1 (ollama), field baseUrl"]],
    ["a flag that is not a boolean", [{ ...groq, zero_retention: "yes" }], ["field zero_retention"]],
    ["an upstream id that is not a string", [{ ...groq, models: { "qwen/qwen3-32b": 3 } }], ["models.qwen/qwen3-32b"]],
    ["a model that is not in the catalogue", [{ ...groq, models: { "gpt-99": "x" } }], ["field models", '"gpt-99"']],
    ["an id used twice", [ollama, ollama], ["entry 2 (ollama), field id", "twice"]],
    ["an unknown kind", [{ ...ollama, kind: "olama" }], ["field kind", "must be one of deepseek, groq"]],
    ["an unknown effort", quirk({ efforts: ["lots"] }), ["field quirks.efforts.0", "must be one of none"]],
    [
      "an unknown reasoning switch",
      quirk({ reasoning_off: "off" }),
      ["field quirks.reasoning_off", "thinking", "false"]
    ],
    [
      "a reasoning switch with a reserved field",
      quirk({ reasoning_off: { model: "x" } }),
      ["quirks.reasoning_off", "not have model"]
    ],
    ["an unknown role", quirk({ system_role: "boss" }), ["field quirks.system_role", "system, developer, user"]],
    ["an unknown quirk", quirk({ streamOptions: false }), ["field quirks.streamOptions"]],
    ["a reserved header", quirk({ headers: { Host: "x" } }), ["field quirks.headers", "must not have Host"]],
    ["an invalid header name", quirk({ headers: { "a b": "x" } }), ["field quirks.headers", "header names"]],
    ["a header with a line break", quirk({ headers: { a: "x\r\ny: z" } }), ["field quirks.headers", "printable ASCII"]],
    [
      "an invalid quirk of a model",
      [{ ...groq, models: { "qwen/qwen3-32b": { id: "q", quirks: { tool_content: "text" } } } }],
      ["field models.qwen/qwen3-32b.quirks.tool_content", "string, parts"]
    ],
    ["the id of a built-in provider", [{ ...ollama, id: "openai" }], ["entry 1 (openai), field id"]]
  ]
  for (const [name, content, parts] of bad) {
    it.effect(`rejects ${name}`, () =>
      Effect.gen(function* () {
        const { path, result } = yield* load(JSON.stringify(content))
        assert.strictEqual(result._tag, "Failure")
        if (result._tag !== "Failure") return
        assert.strictEqual(result.failure._tag, "StartError")
        for (const part of [path, ...parts]) assert.include(result.failure.message, part)
      })
    )
  }

  it.effect("rejects invalid JSON without repeating it", () =>
    Effect.gen(function* () {
      const { path, result } = yield* load("[{api_key: sk-planted")
      assert.deepInclude(result, { _tag: "Failure" })
      if (result._tag !== "Failure") return
      assert.include(result.failure.message, path)
      assert.include(result.failure.message, "not valid JSON")
      assert.notInclude(result.failure.message, "sk-planted")
    })
  )

  it.effect("does not repeat a key that it contains by mistake", () =>
    Effect.gen(function* () {
      for (const entry of [
        { ...groq, api_key: "sk-planted" },
        { ...groq, base_url: "sk-planted" },
        { ...groq, zero_retention: "sk-planted" }
      ]) {
        const { result } = yield* load(JSON.stringify([entry]))
        assert.strictEqual(result._tag, "Failure")
        if (result._tag === "Failure") assert.notInclude(result.failure.message, "sk-planted")
      }
    })
  )

  it.effect("is reported when it cannot be read", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        loadProvidersFile({
          path: "/nowhere/providers.json",
          models,
          reserved,
          keyFrom: () => Effect.die("a key was read")
        })
      )
      assert.include(error.message, "/nowhere/providers.json")
      assert.include(error.message, "There is no file")
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})
