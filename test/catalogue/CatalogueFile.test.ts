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
  it.effect("is read with all its lists, each of which may be missing", () =>
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
    ["a list", [], ["the whole"]],
    ["a list that there is not", { offers: [] }, ["field offers"]],
    ["a list that is none", { promotions: {} }, ["field promotions"]],
    ["an unknown field", { history: [{ ...history, who: "me" }] }, ["history, entry 1 (gpt-4o), field who"]],
    [
      "a discount of nothing",
      { promotions: [{ ...promotion, discountPercent: 0 }] },
      ["field discountPercent", "above 0"]
    ],
    [
      "a discount of everything",
      { promotions: [promotion, { ...promotion, discountPercent: 100 }] },
      ["promotions, entry 2 (gpt-4o), field discountPercent", "below 100"]
    ],
    ["a discount too fine", { promotions: [{ ...promotion, discountPercent: 1.001 }] }, ["two decimals"]],
    ["a time without its zone", { promotions: [{ ...promotion, startsAt: "2026-12-01T00:00" }] }, ["field startsAt"]],
    ["an end before its start", { promotions: [{ ...promotion, endsAt: "2026-12-01" }] }, ["field endsAt", "after"]],
    ["a model that there is not", { promotions: [{ ...promotion, model: "gpt-99" }] }, ["(gpt-99), field model"]],
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
    ["a status that there is not", { statuses: [{ model: "gpt-4o", status: "old" }] }, ["statuses, entry 1", "status"]],
    ["a status of no model", { statuses: [{ model: "gpt-99", status: "ga" }] }, ["(gpt-99), field model"]],
    [
      "two statuses from one moment",
      {
        statuses: [
          { model: "gpt-4o", status: "ga", startsAt: "2027-01-01" },
          { model: "gpt-4o", status: "retired", startsAt: "2027-01-01T00:00Z" }
        ]
      },
      ["statuses, entry 2 (gpt-4o), field startsAt"]
    ],
    [
      "a price of nothing",
      { prices: [{ ...tokens, inputUsdPerMillion: 0 }] },
      ["prices, entry 1 (gpt-4o)", "inputUsdPerMillion"]
    ],
    ["a price in another unit", { prices: [{ ...tokens, model: "tts-1" }] }, ["(tts-1), field unit", "character"]],
    [
      "a price without that of its output",
      { prices: [{ model: "gpt-4o", provider: "openai", unit: "token", inputUsdPerMillion: 2, source: "x" }] },
      ["field outputUsdPerMillion", "missing"]
    ],
    ["two prices from one moment", { prices: [tokens, tokens] }, ["prices, entry 2 (gpt-4o), field startsAt"]],
    ["an event with an hour", { history: [{ ...history, date: "2026-11-01T00:00Z" }] }, ["field date", "day"]],
    ["an event of no model", { history: [{ ...history, model: "gpt-99" }] }, ["history, entry 1 (gpt-99), field model"]]
  ]
  for (const [name, content, parts] of bad) {
    it.effect(`refuses ${name}`, () =>
      Effect.gen(function* () {
        const { path, result } = yield* load(JSON.stringify(content))
        const error = yield* Effect.flip(Effect.fromResult(result))
        assert.isTrue(error.message.startsWith(`CATALOGUE_FILE ${path}: `), error.message)
        for (const part of parts) assert.include(error.message, part)
        assert.notInclude(error.message, "\n")
      }).pipe(Effect.scoped)
    )
  }

  it.effect("says when it is not there, and when it is no JSON", () =>
    Effect.gen(function* () {
      const { path, result } = yield* load("{ prices: ")
      const message = (yield* Effect.flip(Effect.fromResult(result))).message
      assert.strictEqual(message, `CATALOGUE_FILE ${path}: is not valid JSON`)
      const absent = yield* catalogueFile({ path: "/nowhere/catalogue.json", hosts: [] })
      assert.include(
        (yield* Effect.flip(absent.load)).message,
        "CATALOGUE_FILE /nowhere/catalogue.json: cannot be read"
      )
      assert.strictEqual(yield* absent.version, "absent")
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )

  it.effect("has another version when it is written, replaced or gone, and the same when it is read", () =>
    Effect.gen(function* () {
      const { files, path, source } = yield* written("{}")
      const versions = [yield* source.version]
      yield* source.load
      assert.strictEqual(yield* source.version, versions[0])
      yield* files.writeFileString(path, '{ "prices": [] }')
      versions.push(yield* source.version)
      // As editors and mounted configuration do it: the same size and, for a copy that keeps times, the same time.
      yield* files.writeFileString(`${path}.new`, '{ "history": []}')
      const { mtime } = yield* files.stat(path)
      const time = mtime._tag === "Some" ? mtime.value : assert.fail("no time")
      yield* files.utimes(`${path}.new`, time, time)
      yield* files.rename(`${path}.new`, path)
      versions.push(yield* source.version)
      yield* files.remove(path)
      versions.push(yield* source.version)
      assert.strictEqual(new Set(versions).size, versions.length)
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )
})
