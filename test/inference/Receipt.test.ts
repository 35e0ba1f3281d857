import { assert, describe, it } from "@effect/vitest"
import type { Reason } from "../../src/domain/Failure.ts"
import { noTokens } from "../../src/domain/Usage.ts"
import {
  attemptMsOf,
  type RowFacts,
  type ClosedFacts,
  keepClosed,
  keepOpened,
  keepReason,
  type StoredPrice,
  type StoredReason,
  type OpenFacts,
  restoreClosed,
  restoreOpened,
  restoreReason
} from "../../src/inference/Receipt.ts"

/** Returns a document as the database does. */
const written = (document: object): unknown => JSON.parse(JSON.stringify(document))

describe("a stored reason", () => {
  const amounts = { needed: 2n ** 62n, available: -1n, posted: 0n }
  const reasons: ReadonlyArray<Reason> = [
    { _tag: "InsufficientCredits", limitSource: "balance", ...amounts },
    { _tag: "NoModelInBudget", budgetCents: 7, least: 70_000_001n },
    { _tag: "UpstreamError", detail: "d" },
    { _tag: "InternalError" }
  ]
  for (const reason of reasons) {
    it(`is restored unchanged: ${reason._tag}`, () => {
      const kept = written(keepReason(reason)) as StoredReason
      assert.deepStrictEqual(restoreReason(kept), reason)
    })
  }
})

describe("the times of attempts", () => {
  const failed = { startedAt: 103, endedAt: 110.25 }
  const serving = { startedAt: 108.0004 }

  it("list start and duration of each attempt, relative to the arrival", () => {
    assert.deepStrictEqual(attemptMsOf([failed, serving], 100, 120), [3, 7.25, 8, 12])
  })

  it("leave out the duration of an attempt that is still running", () => {
    assert.deepStrictEqual(attemptMsOf([serving], 100), [8, null])
  })

  it("are absent when no provider was called", () => {
    assert.isUndefined(attemptMsOf([], 100, 120))
  })
})

describe("stored facts", () => {
  const row: RowFacts = { model: "svc/auto", resolved_model: "m", provider: "p" }
  const served = { provider: "p", outcome: "served", attempt_index: 0 } as const
  const usual: ClosedFacts = {
    usage: { ...noTokens, input: 7, output: 3 },
    basis: "reported",
    routing: {
      strategy: "balanced",
      requested_models: ["svc/auto"],
      resolved_model: "m",
      provider: "p",
      provider_attempts: [served],
      fallbacks_allowed: true,
      data_policy: "default",
      source: "default"
    },
    rates: { tiers: [[0, 1, 2, 3, 4]] },
    finishReason: "stop",
    error: null,
    holdMs: 1.5,
    firstTokenMs: null,
    totalMs: 20,
    overheadMs: 2,
    endedAtMs: 1_700_000_000_000
  }
  const routed = (more: Partial<ClosedFacts["routing"]>): ClosedFacts => ({
    ...usual,
    routing: { ...usual.routing, ...more }
  })
  const all: Readonly<Record<string, ClosedFacts>> = {
    usual,
    "tokens of all kinds": { ...usual, usage: { input: 1, cached: 2, cacheWrite: 3, output: 4, reasoning: 5 } },
    units: { ...usual, usage: { units: 0, unit: "second" }, rates: { unit: "second", perUnit: 9 } },
    "a failure": { ...usual, finishReason: null, error: { _tag: "InternalError" }, rates: undefined },
    "times of attempts": { ...usual, attemptMs: [2, 3.5, 6.25, null] },
    "a stream": { ...usual, firstTokenMs: 3 },
    "a promotion": { ...usual, rates: { perRequest: 5, tiers: [], promotion: { label: "l", discountPercent: 5 } } },
    "another strategy": routed({ strategy: "cost" }),
    "several models": routed({ requested_models: ["svc/auto", "n"] }),
    "another model": routed({ requested_models: ["m"] }),
    "another resolved model": routed({ resolved_model: "n" }),
    "no provider": routed({ provider: null }),
    "no attempt": routed({ provider_attempts: [] }),
    "two attempts": routed({ provider_attempts: [{ ...served, provider: "q", outcome: "failed_over" }, served] }),
    "a failed attempt": routed({ provider_attempts: [{ ...served, outcome: "failed" }] }),
    "a later attempt": routed({ provider_attempts: [{ ...served, attempt_index: 1 }] }),
    "an attempt by another provider": routed({ provider_attempts: [{ ...served, provider: "q" }] }),
    "no fallbacks": routed({ fallbacks_allowed: false }),
    "a data policy": routed({ data_policy: "no_training" }),
    "a source": routed({ source: "request" }),
    caching: routed({ caching: "auto" })
  }
  for (const [name, facts] of Object.entries(all)) {
    it(`are restored unchanged: ${name}`, () => {
      const again = restoreClosed(written(keepClosed(facts, row)), row)
      assert.deepStrictEqual(written({ firstTokenMs: null, ...again }), written(facts))
      const unplaced = restoreClosed(written(keepClosed(facts, undefined)), row)
      assert.deepStrictEqual(written({ firstTokenMs: null, ...unplaced }), written(facts))
    })
  }

  it("omit facts that the row already contains", () => {
    const { basis, endedAtMs, holdMs, overheadMs, rates, totalMs } = usual
    const times = { holdMs, totalMs, overheadMs, endedAtMs }
    assert.deepStrictEqual(written(keepClosed(usual, row)), {
      usage: { input: 7, output: 3 },
      basis,
      rates,
      finishReason: "stop",
      ...times
    })
  })

  it("can be read in the format of earlier versions", () => {
    const { rates: _rates, routing, ...rest } = usual
    const price: StoredPrice = { model: "m", provider: "p", perRequest: 0, tiers: [[0, 1, 2, 3, 4]] }
    const { source: _source, ...older } = routing
    const again = restoreClosed({ ...rest, routing: older, price }, row)
    assert.deepStrictEqual(again?.routing, older)
    assert.deepInclude(again, { usage: usual.usage, error: null, rates: price })
    const error: StoredReason = { _tag: "HoldExpired" }
    assert.deepStrictEqual(restoreClosed({ error }, row), { error })
    assert.isNull(restoreClosed(null, row))
  })

  for (const opened of [
    { streamed: false, preset: undefined, queueMs: 1, traceId: null, prices: [] },
    { streamed: true, preset: "p", queueMs: 0, traceId: "t", prices: [{ model: "m", provider: "p", tiers: [] }] }
  ] satisfies ReadonlyArray<OpenFacts>) {
    it(`are restored unchanged, of ${opened.streamed ? "a stream" : "a complete answer"} that has begun`, () => {
      assert.deepStrictEqual(restoreOpened(written(keepOpened(opened))), written(opened) as OpenFacts)
    })
  }

  it("are rejected in a damaged row", () => {
    for (const damaged of ["damaged", {}, { streamed: true }, []]) assert.throws(() => restoreOpened(damaged))
  })
})
