import { assert, describe, it } from "@effect/vitest"
import { emptyOutput, type OutputEvent } from "../../../src/domain/Output.ts"
import type { Candidate } from "../../../src/domain/Plan.ts"
import { tokenCost } from "../../../src/domain/Pricing.ts"
import { noTokens } from "../../../src/domain/Usage.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"
import { type PartialAnswer, attemptCost, type AttemptFailure } from "../../../src/providers/pool/AttemptLog.ts"
import { candidate, price } from "../calls.ts"

const plain = candidate("up")
const costed: Candidate = { ...plain, offer: { ...plain.offer, cost: price } }

/** A prompt of 10 tokens, and as many output tokens as the text that arrived has characters. */
const estimateUse = (_: Candidate, { output, prompt }: PartialAnswer) => ({
  ...noTokens,
  ...(prompt ?? { input: 10 }),
  output: output?.text.length ?? 0
})

const costOf = (end: AttemptFailure, arrived?: Parameters<typeof attemptCost>[2]["arrived"], at = costed) =>
  attemptCost(at, end, { arrived }, estimateUse)

const estimated = (input: number, output: number) => ({
  nano: Number(tokenCost(price, { ...noTokens, input, output })),
  basis: "estimated"
})

const fault = (_tag: ProviderFault["_tag"], more: object = {}) =>
  ({ _tag, detail: "scripted", status: 500, retryAfterSeconds: undefined, ...more }) as ProviderFault

describe("the cost of an attempt that served no answer", () => {
  it("is undefined when the provider was not reached or rejected the request", () => {
    const away: ReadonlyArray<ProviderFault> = [
      fault("Unreachable"),
      fault("Unauthorized"),
      fault("RateLimited"),
      fault("Refused"),
      fault("SchemaRefused"),
      fault("ServerError"),
      fault("TimedOut", { clock: "connect" }),
      // No answer could be checked, so none was requested.
      fault("OffSchema")
    ]
    for (const one of away) assert.isUndefined(costOf(one), one._tag)
  })

  it("is estimated from the prompt when the provider had the request and no output arrived", () => {
    const worked: ReadonlyArray<AttemptFailure> = [
      fault("TimedOut", { clock: "first_token" }),
      fault("TimedOut", { clock: "answer" }),
      fault("Malformed"),
      fault("Broken"),
      fault("Lost"),
      "empty",
      "abandoned"
    ]
    for (const one of worked) assert.deepStrictEqual(costOf(one, []), estimated(10, 0), JSON.stringify(one))
  })

  it("uses the provider's own count of the prompt, and the output that arrived", () => {
    const events: ReadonlyArray<OutputEvent> = [
      { _tag: "PromptUsage", usage: { input: 33, cached: 0, cacheWrite: 0 } },
      { _tag: "Text", text: "four" }
    ]
    assert.deepStrictEqual(costOf("abandoned", events), estimated(33, 4))
    assert.deepStrictEqual(costOf(fault("ServerError"), events.slice(0, 1)), estimated(33, 0))
  })

  it("is the cost that the provider reported, even without a price list", () => {
    const usage = { ...noTokens, input: 5, output: 7 }
    const output = { ...emptyOutput, text: "no JSON", usage }
    const reported = { nano: Number(tokenCost(price, usage)), basis: "reported" }
    assert.deepStrictEqual(costOf(fault("OffSchema"), output), reported)
    assert.deepStrictEqual(costOf("empty", [{ _tag: "Usage", usage }]), reported)
    assert.deepStrictEqual(costOf(fault("Refused", { status: 200 }), [{ _tag: "Usage", usage }]), reported)
    const billed = { ...output, usage: { ...usage, billedNano: 12 } }
    assert.deepStrictEqual(costOf("empty", billed, plain), { nano: 12, basis: "reported" })
  })

  it("is unknown without the provider's prices and without an estimate", () => {
    assert.isUndefined(costOf(fault("Broken"), undefined, plain))
    assert.isUndefined(attemptCost(costed, "abandoned", { arrived: undefined }, undefined))
  })
})
