import { assert, describe, it } from "@effect/vitest"
import type { Transaction } from "../../../src/client/Contract.ts"
import { isMonth, ledgerOf, monthsBefore, spansFrom, timesOfMonth } from "../../../src/console/data/Statement.ts"

const at = (text: string) => Date.parse(`${text}Z`) / 1_000

const moved = (id: string, text: string, amount: number, type: Transaction["type"] = "top_up"): Transaction => ({
  id,
  object: "transaction",
  type,
  amount_usd: amount,
  paid_with: "real",
  created_at: at(text),
  request_id: null,
  top_up_id: null,
  reference: null
})

const costs = new Map([
  ["2026-02-27", 1],
  ["2026-03-01", 0.1],
  ["2026-03-05", 0.0000003],
  ["2026-04-02", 2]
])
const days = [...costs.keys()]
const values = { cost_usd: [...costs.values()], requests: days.map(() => 3) }
const none = days.map(() => 0)

const facts = (balance: number) => ({
  balance,
  month: timesOfMonth("2026-03"),
  transactions: [
    moved("b", "2026-03-05T09:00:00", 25),
    moved("a", "2026-02-01T00:00:00", 10),
    moved("c", "2026-03-06T00:00:00", 0.1, "refund"),
    moved("d", "2026-04-01T00:00:00", -4, "adjustment")
  ],
  usage: [
    {
      buckets: days.map((day) => at(`${day}T00:00:00`)),
      data: [
        {
          object: "series" as const,
          group: null,
          is_rest: false,
          totals: {
            requests: 12,
            failed_requests: 0,
            prompt_tokens: 0,
            completion_tokens: 0,
            cost_usd: 3.1,
            latency_ms: null
          },
          values: { ...values, failed_requests: none, prompt_tokens: none, completion_tokens: none, latency_ms: none }
        }
      ]
    }
  ]
})

describe("a month's ledger", () => {
  it("has the balance after each line, computed backwards from the present balance", () => {
    const ledger = ledgerOf(facts(27.8999997))
    assert.deepStrictEqual(
      ledger.lines.map(({ amount, balance, kind }) => [kind, amount, balance]),
      [
        ["requests", -0.1, 8.9],
        ["top_up", 25, 33.9],
        ["requests", -0.0000003, 33.8999997]
      ]
    )
    assert.deepInclude(ledger, { opening: 9, closing: 33.8999997, paidIn: 25, spent: 0.1000003 })
  })

  it("of a month without movements opens and closes with the same balance", () => {
    const { closing, lines, opening } = ledgerOf({ ...facts(5), transactions: [], usage: [] })
    assert.deepStrictEqual([opening, closing, lines], [5, 5, []])
  })

  it("reads the usage since a month in spans of at most 366 days without a gap", () => {
    const [start, end] = [at("2020-01-01T00:00:00"), at("2026-04-02T12:00:00")]
    const spans = spansFrom(start, end)
    assert.deepStrictEqual([spans[0]?.start, spans.at(-1)?.end], [start, end])
    for (const [index, span] of spans.entries()) {
      assert.isAtMost(span.end - span.start, 366 * 86_400)
      if (index > 0) assert.strictEqual(span.start, spans[index - 1]?.end)
    }
    assert.deepStrictEqual(spansFrom(end, end), [])
  })

  it("accepts only valid months of the last ten years, and computes their neighbors and times", () => {
    const now = at("2026-04-02T12:00:00")
    const isOne = (text: string) => isMonth(text, now)
    assert.deepStrictEqual(["2026-03", "2026-04", "2016-04"].map(isOne), [true, true, true])
    for (const text of ["2026-13", "2026-3", "x", "2026-05", "2016-03", "0001-01"]) assert.isFalse(isOne(text), text)
    assert.deepStrictEqual([monthsBefore("2026-01", 1), monthsBefore("2026-12", -1)], ["2025-12", "2027-01"])
    assert.strictEqual(timesOfMonth("2026-02").end - timesOfMonth("2026-02").start, 28 * 86_400)
  })
})
