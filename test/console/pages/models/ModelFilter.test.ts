import { assert, describe, it } from "@effect/vitest"
import type { ModelDetail } from "../../../../src/client/Contract.ts"
import { filterModels } from "../../../../src/console/pages/models/ModelFilter.ts"

const model = (id: string, more: Partial<ModelDetail> = {}) =>
  ({
    id,
    name: id.toUpperCase(),
    brand: "Maker",
    created: 1,
    contextWindow: 1,
    modality: "text",
    capabilities: [],
    providers: [],
    pricing: { typicalRequestUsd: 1 },
    ...more
  }) as unknown as ModelDetail

const models = [
  model("small", { created: 3, contextWindow: 10, capabilities: ["tools"] }),
  model("large", { created: 2, contextWindow: 90, pricing: { typicalRequestUsd: 9 } as ModelDetail["pricing"] }),
  model("picture", { created: 1, modality: "image", providers: [{ provider: "openai" }] as never })
]

const ids = (filter: Parameters<typeof filterModels>[1]) => filterModels(models, filter).map(({ id }) => id)

describe("the filter of models", () => {
  it("lists the newest first", () => assert.deepStrictEqual(ids({}), ["small", "large", "picture"]))

  it("requires every word of the search, in any case", () => {
    assert.deepStrictEqual(ids({ q: "MAKER sma" }), ["small"])
    assert.deepStrictEqual(ids({ q: "maker none" }), [])
  })

  it("filters by modality, capability and provider", () => {
    assert.deepStrictEqual(ids({ modality: "image" }), ["picture"])
    assert.deepStrictEqual(ids({ capability: "tools" }), ["small"])
    assert.deepStrictEqual(ids({ provider: "openai" }), ["picture"])
  })

  it("filters by the price of a typical request, by context and by data policy", () => {
    assert.deepStrictEqual(ids({ price: "1" }), ["small", "picture"])
    assert.deepStrictEqual(ids({ context: "10" }), ["small", "large"])
    const kept = [
      model("trains", { providers: [{ trainsOnData: true, zeroRetentionAvailable: false }] as never }),
      model("keeps", { providers: [{ trainsOnData: false, zeroRetentionAvailable: false }] as never }),
      model("forgets", { providers: [{ trainsOnData: false, zeroRetentionAvailable: true }] as never })
    ]
    const fitting = (policy: "no_training" | "zero_retention") => filterModels(kept, { policy }).map(({ id }) => id)
    assert.deepStrictEqual(fitting("no_training"), ["keeps", "forgets"])
    assert.deepStrictEqual(fitting("zero_retention"), ["forgets"])
  })

  it("sorts by price and by context", () => {
    assert.deepStrictEqual(ids({ sort: "-price" })[0], "large")
    assert.deepStrictEqual(ids({ sort: "context" }), ["large", "small", "picture"])
  })
})
