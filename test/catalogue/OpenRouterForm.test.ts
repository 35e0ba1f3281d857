import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { noChanges } from "../../src/catalogue/Changes.ts"
import { pageOf, toWire } from "../../src/catalogue/Listing.ts"
import { unknownPerformance } from "../../src/catalogue/LiveFigures.ts"
import { openRouterMembers, textPricesOf } from "../../src/catalogue/OpenRouterForm.ts"
import { bundledOverlay } from "../../src/catalogue/Overlay.ts"
import { snapshotAt } from "../../src/catalogue/Snapshot.ts"

const overlay = Effect.runSync(bundledOverlay)
const { snapshot } = snapshotAt(
  { sandbox: true, keyed: new Set(), hosts: [], overlay, changes: noChanges },
  Date.parse("2026-11-21T12:00:00Z")
)
const wire = snapshot.all.map((model) => toWire(snapshot, { performance: () => unknownPerformance }, model))
const shown = (id: string) => wire.find((model) => model.id === id)!

describe("OpenRouter's fields of a model", () => {
  it("contain prices as decimal text without an exponent", () => {
    for (const { id, pricing } of wire) {
      for (const text of [pricing.prompt, pricing.completion, pricing.request, pricing.image_output]) {
        if (text !== undefined) assert.match(text, /^(-1|\d+(\.\d*[1-9])?)$/, id)
      }
      if (pricing.meteredPromptPerToken !== null)
        assert.strictEqual(Number(pricing.prompt), pricing.meteredPromptPerToken)
    }
    assert.deepInclude(shown("gpt-4o-mini").pricing, { prompt: "0.00000015", completion: "0.0000006" })
    assert.deepInclude(shown("flux-dev").pricing, { prompt: "0", completion: "0" })
    assert.strictEqual(Number(shown("flux-dev").pricing.image_output), shown("flux-dev").pricing.perUnitUsd)
  })

  it("contain -1 when the price depends on the request", () => {
    assert.deepInclude(shown("svc/auto").pricing, { prompt: "-1", completion: "-1" })
    const { pricing } = shown("svc/auto")
    assert.deepStrictEqual(textPricesOf(pricing, "text"), { prompt: "-1", completion: "-1" })
  })

  it("name the modalities of input and output", () => {
    const kinds = (id: string) => openRouterMembers(snapshot.find(id)!).architecture.modality
    assert.deepStrictEqual(["gpt-4o-mini", "text-embedding-3-small", "flux-dev", "tts-1", "rerank-2.5"].map(kinds), [
      "text+image+file->text",
      "text->embeddings",
      "text->image",
      "text->speech",
      "text->rerank"
    ])
  })
})

describe("a page of models by offset", () => {
  it("skips that many models, and links to the next page", () => {
    const first = pageOf(wire, { offset: 3, limit: 2, modality: "text" })
    assert.deepStrictEqual(
      first.data.map(({ id }) => id),
      wire.slice(3, 5).map(({ id }) => id)
    )
    assert.strictEqual(first.total_count, wire.length)
    const next = new URL(first.links.next!, "http://127.0.0.1")
    assert.deepStrictEqual(Object.fromEntries(next.searchParams), {
      limit: "2",
      modality: "text",
      after_id: wire[4]!.id
    })
    assert.isNull(pageOf(wire, { offset: wire.length - 1 }).links.next)
    assert.deepInclude(pageOf(wire, { offset: wire.length }), { data: [], first_id: null })
  })
})
