import { assert, describe, it } from "@effect/vitest"
import {
  type Changes,
  changesUntil,
  eventsOf,
  noChanges,
  pair,
  pricesAt,
  type PromotionChange,
  promotionOf,
  promotionsAt,
  statusesAt
} from "../../src/catalogue/Changes.ts"
import type { OverlayPrice } from "../../src/catalogue/Overlay.ts"

const at = (iso: string) => Date.parse(iso)

const character = (usd: number, startsAt?: string): OverlayPrice => ({
  model: "tts-1",
  provider: "openai",
  unit: "character",
  usd,
  source: "test",
  ...(startsAt === undefined ? {} : { startsAt })
})

const promotion = (more: Partial<PromotionChange> = {}): PromotionChange => ({
  model: "gpt-4o",
  label: "Winter",
  discountPercent: 20,
  startsAt: "2026-12-01",
  endsAt: "2026-12-24T18:00:00Z",
  ...more
})

describe("prices", () => {
  const picoAt = (overlay: ReadonlyArray<OverlayPrice>, prices: ReadonlyArray<OverlayPrice>, iso: string) => {
    const price = pricesAt(overlay, { ...noChanges, prices }, at(iso)).get(pair("tts-1", "openai"))
    return price !== undefined && price.unit !== "token" ? Number(price.perUnit) / 1e6 : undefined
  }

  it("apply from their start, and the latest start wins, whatever their order in the list", () => {
    const prices = [character(0.000_03, "2026-12-01"), character(0.000_01), character(0.000_02, "2026-11-01")]
    assert.strictEqual(picoAt([], prices, "2026-10-31T23:59:59.999Z"), 10)
    assert.strictEqual(picoAt([], prices, "2026-11-01T00:00:00Z"), 20)
    assert.strictEqual(picoAt([], prices, "2026-12-01T00:00:00Z"), 30)
  })

  it("of the operator override the bundled ones once they have started", () => {
    const own = [character(0.000_02, "2026-12-01")]
    assert.strictEqual(picoAt([character(0.000_01)], own, "2026-11-30T23:59:59Z"), 10)
    assert.strictEqual(picoAt([character(0.000_01)], own, "2026-12-01T00:00:00Z"), 20)
    assert.isUndefined(picoAt([], own, "2026-11-30T23:59:59Z"))
  })
})

describe("statuses", () => {
  it("apply from their start", () => {
    const statuses = [
      { model: "gpt-4o", status: "retired", startsAt: "2027-01-01" },
      { model: "gpt-4o", status: "deprecated" }
    ] as const
    const status = (iso: string) => statusesAt({ ...noChanges, statuses }, at(iso)).get("gpt-4o")
    assert.strictEqual(status("2026-12-31T23:59:59Z"), "deprecated")
    assert.strictEqual(status("2027-01-01T00:00:00Z"), "retired")
    assert.isUndefined(statusesAt({ ...noChanges, statuses }, at("2027-01-01")).get("gpt-4o-mini"))
  })
})

describe("promotions", () => {
  it("apply from the millisecond of their start up to, but not including, that of their end", () => {
    const count = (iso: string) => promotionsAt({ ...noChanges, promotions: [promotion()] }, at(iso)).length
    assert.strictEqual(count("2026-11-30T23:59:59.999Z"), 0)
    assert.strictEqual(count("2026-12-01T00:00:00.000Z"), 1)
    assert.strictEqual(count("2026-12-24T17:59:59.999Z"), 1)
    assert.strictEqual(count("2026-12-24T18:00:00.000Z"), 0)
  })

  it("do not add up: the largest discount for the model and provider applies, the first of equal ones", () => {
    const some = [
      promotion(),
      promotion({ provider: "azure", discountPercent: 50, label: "Azure" }),
      promotion({ discountPercent: 20, label: "Later" }),
      promotion({ model: "gpt-4o-mini", discountPercent: 90 })
    ]
    assert.deepStrictEqual(promotionOf(some, "gpt-4o", "openai"), {
      label: "Winter",
      discountPercent: 20,
      startsAt: at("2026-12-01"),
      endsAt: at("2026-12-24T18:00:00Z")
    })
    assert.strictEqual(promotionOf(some, "gpt-4o", "azure")?.label, "Azure")
    assert.isUndefined(promotionOf(some, "o3", "openai"))
  })
})

describe("the changes", () => {
  const changes: Changes = {
    prices: [character(0.000_02, "2026-12-02"), character(0.000_01)],
    costs: [],
    statuses: [{ model: "gpt-4o", status: "deprecated", startsAt: "2026-12-03" }],
    promotions: [promotion()],
    history: [{ model: "gpt-4o", event: "weights_updated", date: "2026-12-04", provider: "azure", detail: "a note" }]
  }

  it("are valid until the next start or end among them", () => {
    const moments: Array<string> = []
    for (let now = at("2026-01-01"); now !== Number.POSITIVE_INFINITY;) {
      now = changesUntil([], changes, now)
      if (now !== Number.POSITIVE_INFINITY) moments.push(new Date(now).toISOString())
    }
    assert.deepStrictEqual(moments, [
      "2026-12-01T00:00:00.000Z",
      "2026-12-02T00:00:00.000Z",
      "2026-12-03T00:00:00.000Z",
      "2026-12-04T00:00:00.000Z",
      "2026-12-24T18:00:00.000Z"
    ])
  })

  it("become events of a model's history once they have happened, and not before", () => {
    const events = (iso: string) => eventsOf(changes, "gpt-4o", at(iso)).map(({ date, event }) => `${date} ${event}`)
    assert.deepStrictEqual(events("2026-11-30T23:59:59Z"), [])
    assert.deepStrictEqual(events("2026-12-24T17:59:59Z"), [
      "2026-12-03 deprecated",
      "2026-12-01 promotion_started",
      "2026-12-04 weights_updated"
    ])
    assert.include(events("2026-12-24T18:00:00Z"), "2026-12-24 promotion_ended")
    const [event] = eventsOf({ ...changes, statuses: [], promotions: [] }, "gpt-4o", at("2027-01-01"))
    assert.deepStrictEqual(event, {
      event: "weights_updated",
      date: "2026-12-04",
      provider: "azure",
      detail: "a note"
    })
    // A price without a start is not a change.
    assert.deepStrictEqual(eventsOf(changes, "tts-1", at("2027-01-01")), [
      {
        event: "price_changed",
        date: "2026-12-02",
        provider: "openai",
        price: { unit: "character", perUnit: 20_000_000n }
      }
    ])
  })
})
