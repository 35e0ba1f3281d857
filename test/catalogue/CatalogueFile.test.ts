import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { catalogueFile } from "../../src/catalogue/CatalogueFile.ts"
import { type Changes, noChanges } from "../../src/catalogue/Changes.ts"
import type { OverlayPrice } from "../../src/catalogue/Overlay.ts"
import type { Host } from "../../src/platform/config/ProvidersFile.ts"

const host: Host = {
  id: "basement",
  name: "Basement",
  baseUrl: new URL("http://127.0.0.1:8000/v1"),
  apiKey: undefined,
  keyed: true,
  trainsOnData: false,
  zeroRetention: true,
  models: new Map([["meta-llama/llama-3.3-70b-instruct", "llama3.3"]])
}

const written = (content: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const path = yield* files.makeTempFileScoped({ prefix: "catalogue", suffix: ".json" })
    yield* files.writeFileString(path, content)
    return { files, path, source: yield* catalogueFile({ path, hosts: [host] }) }
  })

const load = (content: string) =>
  Effect.gen(function* () {
    const { path, source } = yield* written(content)
    return { path, result: yield* Effect.result(source.load) }
  }).pipe(Effect.provide(NodeFileSystem.layer))

const tokens: OverlayPrice = {
  model: "gpt-4o",
  provider: "openai",
  unit: "token",
  inputUsdPerMillion: 2,
  outputUsdPerMillion: 8,
  source: "our contract"
}
const promotion = {
  model: "gpt-4o",
  label: "Winter",
  discountPercent: 12.5,
  startsAt: "2026-12-01",
  endsAt: "2027-01-01T00:00:00+01:00"
}
const history = { model: "gpt-4o", event: "weights_updated", date: "2026-11-01" }

describe("CATALOGUE_FILE", () => {
  it.effect("is loaded with all its lists, each of which is optional", () =>
    Effect.gen(function* () {
      const said: Changes = {
        prices: [
          tokens,
          { ...tokens, startsAt: "2027-01-01" },
          { ...tokens, model: "meta-llama/llama-3.3-70b-instruct", provider: "basement" },
          { model: "tts-1", provider: "openai", unit: "character", usd: 0.00001, source: "our contract" }
        ],
        costs: [tokens, { ...tokens, startsAt: "2027-01-01" }],
        statuses: [{ model: "svc/auto", status: "ga" }],
        promotions: [promotion, { ...promotion, provider: "azure" }],
        history: [history]
      }
      const { result } = yield* load(JSON.stringify(said))
      assert.deepStrictEqual(yield* Effect.fromResult(result), said)
      const { result: empty } = yield* load("{}")
      assert.deepStrictEqual(yield* Effect.fromResult(empty), noChanges)
    }).pipe(Effect.scoped)
  )

  const bad: ReadonlyArray<readonly [string, unknown, ReadonlyArray<string>]> = [
    ["a list instead of an object", [], ["the whole"]],
    ["an unknown list", { offers: [] }, ["field offers: must be one of prices, costs, statuses, promotions, history"]],
    ["an object instead of a list", { promotions: {} }, ["field promotions"]],
    [
      "an unknown field",
      { history: [{ ...history, who: "me" }] },
      ["history, entry 1 (gpt-4o), field who: must be one of model, event, date, provider, detail"]
    ],
    ["a discount of 0%", { promotions: [{ ...promotion, discountPercent: 0 }] }, ["field discountPercent", "above 0"]],
    [
      "a discount of 100%",
      { promotions: [promotion, { ...promotion, discountPercent: 100 }] },
      ["promotions, entry 2 (gpt-4o), field discountPercent", "below 100"]
    ],
    ["a discount with three decimals", { promotions: [{ ...promotion, discountPercent: 1.001 }] }, ["two decimals"]],
    [
      "a time without a time zone",
      { promotions: [{ ...promotion, startsAt: "2026-12-01T00:00" }] },
      ["field startsAt"]
    ],
    ["an end before its start", { promotions: [{ ...promotion, endsAt: "2026-12-01" }] }, ["field endsAt", "after"]],
    ["an unknown model", { promotions: [{ ...promotion, model: "gpt-99" }] }, ["(gpt-99), field model"]],
    [
      "a model without a price",
      { promotions: [{ ...promotion, model: "svc/auto" }] },
      ["(svc/auto), field model", "price"]
    ],
    [
      "a provider that does not offer the model",
      { promotions: [{ ...promotion, provider: "basement" }] },
      ["field provider", "does not offer"]
    ],
    ["an unknown status", { statuses: [{ model: "gpt-4o", status: "old" }] }, ["statuses, entry 1", "status"]],
    ["a status of an unknown model", { statuses: [{ model: "gpt-99", status: "ga" }] }, ["(gpt-99), field model"]],
    [
      "two statuses with the same start",
      {
        statuses: [
          { model: "gpt-4o", status: "ga", startsAt: "2027-01-01" },
          { model: "gpt-4o", status: "retired", startsAt: "2027-01-01T00:00Z" }
        ]
      },
      ["statuses, entry 2 (gpt-4o), field startsAt"]
    ],
    [
      "a price of 0",
      { prices: [{ ...tokens, inputUsdPerMillion: 0 }] },
      ["prices, entry 1 (gpt-4o)", "inputUsdPerMillion"]
    ],
    [
      "a price in another unit than the model's",
      { prices: [{ ...tokens, model: "tts-1" }] },
      ["(tts-1), field unit", "character"]
    ],
    [
      "a token price without an output price",
      { prices: [{ model: "gpt-4o", provider: "openai", unit: "token", inputUsdPerMillion: 2, source: "x" }] },
      ["field outputUsdPerMillion", "missing"]
    ],
    ["two prices with the same start", { prices: [tokens, tokens] }, ["prices, entry 2 (gpt-4o), field startsAt"]],
    ["an event with a time of day", { history: [{ ...history, date: "2026-11-01T00:00Z" }] }, ["field date", "day"]],
    [
      "an event of an unknown model",
      { history: [{ ...history, model: "gpt-99" }] },
      ["history, entry 1 (gpt-99), field model"]
    ]
  ]
  for (const [name, content, parts] of bad) {
    it.effect(`is rejected for ${name}`, () =>
      Effect.gen(function* () {
        const { path, result } = yield* load(JSON.stringify(content))
        const error = yield* Effect.flip(Effect.fromResult(result))
        assert.isTrue(error.message.startsWith(`CATALOGUE_FILE ${path}: `), error.message)
        for (const part of parts) assert.include(error.message, part)
        assert.notInclude(error.message, "\n")
      }).pipe(Effect.scoped)
    )
  }

  it.effect("fails to load with its path when it is missing or not valid JSON", () =>
    Effect.gen(function* () {
      const { path, result } = yield* load("{ prices: ")
      const message = (yield* Effect.flip(Effect.fromResult(result))).message
      assert.strictEqual(message, `CATALOGUE_FILE ${path}: is not valid JSON`)
      const absent = yield* catalogueFile({ path: "/nowhere/catalogue.json", hosts: [] })
      assert.include(
        (yield* Effect.flip(absent.load)).message,
        "`CATALOGUE_FILE` must name a file. There is no file /nowhere/catalogue.json."
      )
      assert.strictEqual(yield* absent.version, "absent")
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )

  it.effect("gets a new version when it is written, replaced or removed, but not when it is read", () =>
    Effect.gen(function* () {
      const { files, path, source } = yield* written("{}")
      const versions = [yield* source.version]
      yield* source.load
      assert.strictEqual(yield* source.version, versions[0])
      yield* files.writeFileString(path, '{ "prices": [] }')
      versions.push(yield* source.version)
      // Editors and mounted configuration replace the file by one that can have the same size and the same time.
      yield* files.writeFileString(`${path}.new`, '{ "history": []}')
      const { mtime } = yield* files.stat(path)
      const time = mtime._tag === "Some" ? mtime.value : assert.fail("the file has no modification time")
      yield* files.utimes(`${path}.new`, time, time)
      yield* files.rename(`${path}.new`, path)
      versions.push(yield* source.version)
      yield* files.remove(path)
      versions.push(yield* source.version)
      assert.strictEqual(new Set(versions).size, versions.length)
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )
})
