import { assert, describe, it } from "@effect/vitest"
import { changesInWords, eventName, summaryOf } from "../../../src/console/data/AuditWords.ts"

type Changes = Parameters<typeof summaryOf>[0]["changes"]

const event = (type: string, changes: object) => ({ type, changes: changes as Changes })

describe("the summary of an audit event", () => {
  for (const [type, changes, words] of [
    ["balance.topped_up", { amount_usd: 20, reference: "INV-1" }, "$20.00 · reference INV-1"],
    [
      "balance.adjusted",
      { reference: "T-1", reason: "goodwill", amount_usd: -5 },
      "−$5.00 · “goodwill” · reference T-1"
    ],
    ["balance.topped_up", { amount_usd: 20, simulated: true }, "$20.00 · simulated money"],
    [
      "account.suspended",
      { state: { from: "active", to: "suspended" }, reason: "chargeback" },
      "State: active → suspended · “chargeback”"
    ],
    ["account.markup_changed", { markup_basis_points: { from: 0, to: 1_250 } }, "Markup: 0% → +12.5%"],
    ["account.limits_changed", { limit_scale: { from: 1, to: 2 } }, "Rate limits: the default → 2 times the default"],
    ["account.plan_changed", { plan_id: { from: "pln_1", to: null } }, "Plan removed, it was pln_1"],
    [
      "account.plan_changed",
      { plan_id: { from: "pln_1", to: "pln_2" }, plan: { from: "Silver", to: "Gold" } },
      "Plan: Silver → Gold"
    ],
    ["provider_spend.limited", { limit_nano: { from: null, to: "5000000000" } }, "Bound set to $5.00 a day"],
    ["provider_spend.limited", { limit_nano: { from: "5000000000", to: "0" } }, "Bound: $5.00 a day → $0.00 a day"],
    ["provider_spend.limited", { limit_nano: { from: "5000000000", to: null } }, "Bound removed, it was $5.00 a day"],
    [
      "plan.created",
      { name: "Gold", markup_bp: -500, prices: [{ model: "a", per_unit_usd: 0.04 }], daily_spend: null },
      "Name: Gold · Markup: −5% · Prices: a at $0.04"
    ],
    [
      "key.updated",
      { budget_cents: { from: null, to: 500 }, name: { from: "a", to: "b" } },
      "Budget set to $5.00 · Name: a → b"
    ],
    ["key.rotated", { replaced_by: "key_2", grace_seconds: 3_600 }, "Replaced by: key_2 · Grace: 1 h 0 min"],
    ["project.updated", { routing: { from: null, to: { strategy: "cost" } } }, 'Routing strategy set to "cost"'],
    ["key.revoked", {}, ""]
  ] as const) {
    it(`of ${type} with ${JSON.stringify(changes)} is ${JSON.stringify(words)}`, () =>
      assert.strictEqual(summaryOf(event(type, changes)), words))
  }
})

describe("the changes of an audit event in words", () => {
  it("have the values before and after when both are recorded, and otherwise only the value after", () =>
    assert.deepStrictEqual(
      changesInWords(
        event("key.updated", {
          name: { from: "a", to: "b" },
          budget_cents: { from: null, to: 500 },
          routing: { strategy: "cost" },
          last2: "67"
        })
      ),
      [
        { field: "Name", before: "a", after: "b" },
        { field: "Budget", before: undefined, after: "$5.00" },
        { field: "Routing strategy", before: undefined, after: '"cost"' },
        { field: "Phone number ends in", before: undefined, after: "67" }
      ]
    ))

  it("have no value after a removal", () =>
    assert.deepStrictEqual(
      changesInWords(event("provider_spend.limited", { limit_nano: { from: "5000000000", to: null } })),
      [{ field: "Bound", before: "$5.00 a day", after: undefined }]
    ))
})

describe("the name of an audit event", () => {
  it("says whether a provider got a bound, stopped, or lost its bound", () =>
    assert.deepStrictEqual(
      ["5000000000", "0", null].map((to) =>
        eventName(event("provider_spend.limited", { limit_nano: { from: null, to } }))
      ),
      ["Provider bound set", "Provider stopped", "Provider bound removed"]
    ))

  it("is the type in words for every other event", () =>
    assert.deepStrictEqual(
      ["operator_key.created", "operator_key.revoked", "top_up.settled"].map((type) => eventName(event(type, {}))),
      ["Operator key created", "Operator key revoked", "Top-up settled"]
    ))
})
