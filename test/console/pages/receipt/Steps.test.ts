import { assert, describe, it } from "@effect/vitest"
import type { RequestReceipt } from "../../../../src/client/Contract.ts"
import { stepsOf } from "../../../../src/console/pages/receipt/Steps.ts"

type Timing = RequestReceipt["timings"]["attempts"][number]

const timings = {
  queue_ms: 1,
  hold_ms: 4,
  first_token_ms: 20,
  total_ms: 40,
  settle_ms: 3,
  overhead_ms: 8,
  attempts: [] as ReadonlyArray<Timing>
}

const served = { provider: "openai", outcome: "served" }

const timed = (attempt_index: number, start_ms: number, duration_ms: number | null): Timing => ({
  attempt_index,
  start_ms,
  duration_ms
})

const receipt = (attempts: ReadonlyArray<object>, more: object = {}) =>
  ({
    provider: "openai",
    held_usd: 0.5,
    settled_usd: 0.1,
    timings,
    routing: { provider_attempts: attempts.map((attempt, attempt_index) => ({ ...attempt, attempt_index })) },
    ...more
  }) as unknown as RequestReceipt

const spans = (of: RequestReceipt) => stepsOf(of).map(({ from, kind, name, to }) => [kind, name, from, to])

describe("the steps of a request", () => {
  it("run from the hold over the provider to the settlement, one after the other", () => {
    const one = receipt([served], { timings: { ...timings, attempts: [timed(0, 6, 33)] } })
    assert.deepStrictEqual(spans(one), [
      ["wait", "Received", 0, 1],
      ["hold", "Hold", 1, 5],
      ["run", "openai", 6, 39],
      ["settle", "Settle", 40, 43]
    ])
    const step = stepsOf(one)[2]
    assert.strictEqual(step?.first, 20)
    assert.strictEqual(step?.note, "answered in 33 ms, first token after 14 ms")
  })

  it("show a failed attempt for as long as it took, before the one that served", () => {
    const attempts = [timed(0, 5, 10), timed(1, 15, 24)]
    const two = receipt([{ provider: "azure", outcome: "failed_over" }, served], { timings: { ...timings, attempts } })
    assert.deepStrictEqual(spans(two).slice(2, 4), [
      ["failed", "azure", 5, 15],
      ["run", "openai", 15, 39]
    ])
    assert.strictEqual(stepsOf(two)[2]?.note, "failed after 10 ms, the next one took over")
  })

  it("show a hedge beside the attempt that it ran beside, in order of their start", () => {
    const attempts = [timed(0, 12, 8), timed(1, 5, 34)]
    const hedged = receipt([{ provider: "azure", outcome: "failed_over" }, served], {
      timings: { ...timings, attempts }
    })
    assert.deepStrictEqual(spans(hedged).slice(2, 4), [
      ["run", "openai", 5, 39],
      ["failed", "azure", 12, 20]
    ])
    assert.strictEqual(stepsOf(hedged)[3]?.note, "8.0 ms beside openai, which answered first")
  })

  it("say that a provider failed after it accepted the request, and what happened to the hold", () => {
    const attempts = [timed(0, 6, 33)]
    const failed = receipt([served], { status: "failed", refunded_usd: 0.1, timings: { ...timings, attempts } })
    assert.deepStrictEqual(
      stepsOf(failed)
        .map(({ kind, note }) => [kind, note])
        .slice(2),
      [
        ["failed", "failed after 33 ms"],
        ["settle", "$0.10 charged in 3.0 ms, all of it refunded"]
      ]
    )
    const notes = [{}, { settled_usd: 0 }, { settled_usd: 0.5 }].map((more) => stepsOf(receipt([], more)).at(-1)?.note)
    assert.deepStrictEqual(notes, [
      "$0.10 charged in 3.0 ms, the rest returned",
      "nothing charged, the hold returned in 3.0 ms",
      "$0.50 charged in 3.0 ms"
    ])
  })

  it("give an attempt without its own times the time of the provider", () =>
    assert.deepStrictEqual(spans(receipt([{ provider: "azure", outcome: "failed_over" }, served])).slice(2, 4), [
      ["failed", "azure", 5, 5],
      ["run", "openai", 5, 40]
    ]))

  it("end with the hold while the request runs", () => {
    const open = { ...timings, first_token_ms: null, total_ms: null, settle_ms: null }
    assert.deepStrictEqual(
      stepsOf(receipt([], { timings: open, provider: null })).map(({ name }) => name),
      ["Received", "Hold"]
    )
  })
})
