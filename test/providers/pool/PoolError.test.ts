import { assert, describe, it } from "@effect/vitest"
import {
  attemptsOf,
  filteredFault,
  isAnsweredEmpty,
  isResultLost,
  isSchemaViolation,
  pauseOf,
  reasonOf,
  breakersOpenReason
} from "../../../src/providers/pool/PoolError.ts"

const at = (provider: string) => ({ provider, model: "model-1", startedAt: 1 })

describe("the error of failed attempts", () => {
  it("marks the last attempt as failed and the others as failed over", () => {
    const said = (attempts: ReturnType<typeof attemptsOf>) =>
      attempts.map(({ index, outcome, provider }) => `${index} ${provider} ${outcome}`)
    assert.deepStrictEqual(said(attemptsOf([at("a"), at("b")])), ["0 a failed_over", "1 b failed"])
    assert.deepStrictEqual(said(attemptsOf([at("a")], { ...at("b"), outcome: "served" })), [
      "0 a failed_over",
      "1 b served"
    ])
    assert.deepStrictEqual(said(attemptsOf([])), [])
  })

  it("states the wait for open breakers in whole seconds, at least one", () => {
    const seconds = [-5, 0, 1, 1_000, 1_001, 60_000].map((ms) => {
      const reason = breakersOpenReason(ms)
      return reason._tag === "NoProviderAvailable" ? reason.retryAfterSeconds : undefined
    })
    assert.deepStrictEqual(seconds, [1, 1, 1, 1, 2, 60])
  })

  it("is a rate limit with the shortest pause when all hosts are rate limited", () => {
    const limited = (provider: string, retryAfterSeconds: number | undefined) =>
      ({ ...at(provider), fault: { _tag: "RateLimited", retryAfterSeconds } }) as const
    const pause = (...failures: Parameters<typeof reasonOf>[0]) => {
      const reason = reasonOf(failures)
      return reason._tag === "UpstreamRateLimited" ? reason.retryAfterSeconds : reason._tag
    }
    assert.strictEqual(pause(limited("a", 30), limited("b", 7), limited("c", undefined)), 7)
    assert.deepStrictEqual([pause(limited("a", 0)), pause(limited("a", undefined))], [1, 5])
    const down = { ...at("b"), fault: { _tag: "ServerError", status: 500, detail: "X" } } as const
    assert.strictEqual(pause(limited("a", 30), down), "UpstreamError")
  })

  it("is an empty answer after two empty ones", () => {
    const empty = { ...at("a"), fault: undefined }
    const broken = { ...at("b"), fault: { _tag: "Broken", detail: "X" } } as const
    const reason = (...failures: Parameters<typeof reasonOf>[0]) => reasonOf(failures)._tag
    assert.strictEqual(reason(empty), "EmptyCompletion")
    assert.strictEqual(reason(empty, broken), "UpstreamError")
    assert.strictEqual(reason(empty, broken, empty), "EmptyCompletion")
    assert.deepStrictEqual([isAnsweredEmpty([empty, broken]), isAnsweredEmpty([broken, empty, empty])], [false, true])
  })

  it("is a content policy violation when a content filter left nothing of an answer", () => {
    const empty = { ...at("a"), fault: undefined }
    const broken = { ...at("b"), fault: { _tag: "Broken", detail: "X" } } as const
    const filtered = { ...at("c"), fault: filteredFault }
    const reason = (...failures: Parameters<typeof reasonOf>[0]) => reasonOf(failures)._tag
    assert.deepStrictEqual(reasonOf([filtered]), {
      _tag: "ContentPolicyViolation",
      provider: "c",
      detail: "the content filter blocked the answer"
    })
    assert.strictEqual(reason(filtered, empty), "ContentPolicyViolation")
    assert.strictEqual(reason(broken, filtered), "ContentPolicyViolation")
    assert.strictEqual(reason(filtered, broken, filtered), "ContentPolicyViolation")
    assert.deepStrictEqual([isAnsweredEmpty([filtered]), isAnsweredEmpty([filtered, empty])], [false, true])
  })

  it("is a lost answer, after which the gateway tries no other provider", () => {
    const down = { ...at("a"), fault: { _tag: "Refused", status: 400, detail: "X" } } as const
    const lost = { ...at("b"), fault: { _tag: "Lost", detail: "X" } } as const
    const detail = "a: refused the request; b: lost answer"
    assert.deepStrictEqual(reasonOf([down, lost]), { _tag: "UpstreamError", detail })
    assert.deepStrictEqual([undefined, down.fault, lost.fault].map(isResultLost), [false, false, true])
  })

  it("names the caller's field that made an answer too long", () => {
    const down = { ...at("a"), fault: { _tag: "Broken", detail: "X" } } as const
    const lost = { ...at("b"), fault: { _tag: "Lost", detail: "X", ours: true, param: "logprobs" } } as const
    const message = "must be off, or the request must be a stream, because the complete answer was too long"
    const reason = { _tag: "ValidationError", problems: [{ field: "logprobs", message }] } as const
    assert.deepStrictEqual([reasonOf([down, lost]), reasonOf([lost, down])], [reason, reason])
  })

  it("names the schema violation, after which only candidates with native support are tried", () => {
    const off = { ...at("a"), fault: { _tag: "OffSchema", detail: "#/a: type" } } as const
    const broken = { ...at("b"), fault: { _tag: "Broken", detail: "X" } } as const
    assert.deepStrictEqual(reasonOf([off, broken]), {
      _tag: "UpstreamError",
      detail: "a: the answer did not meet the schema (#/a: type); b: broken connection"
    })
    const refused = { _tag: "SchemaRefused", field: "f", detail: "a `$ref` must have a target in the schema" } as const
    const offs = [undefined, broken.fault, off.fault, refused].map(isSchemaViolation)
    assert.deepStrictEqual(offs, [false, false, true, true])
    const message =
      "must be a schema that the gateway can check, because these models do not guarantee it: a `$ref` must have a target in the schema"
    const reason = { _tag: "ValidationError", problems: [{ field: "f", message }] } as const
    assert.deepStrictEqual(reasonOf([{ ...at("a"), fault: refused }]), reason)
    const passing = { ...at("a"), fault: { ...refused, passing: true } } as const
    assert.deepStrictEqual(reasonOf([passing]), { ...reason, passing: "later" })
    const limit = { limit: 10, retryAfterSeconds: 7 }
    const limited = reasonOf([{ ...at("a"), fault: { ...refused, limit } }])
    assert.deepStrictEqual(limited, { _tag: "RateLimitExceeded", ...limit })
  })

  it("carries the pause of a rate limited or failing host", () => {
    const busy = { _tag: "ServerError", status: 503, detail: "X", retryAfterSeconds: 4 } as const
    assert.strictEqual(pauseOf(busy), 4)
    assert.strictEqual(pauseOf({ _tag: "RateLimited", retryAfterSeconds: 3 }), 3)
    assert.isUndefined(pauseOf({ _tag: "Broken", detail: "X" }))
    assert.deepStrictEqual(reasonOf([{ ...at("a"), fault: busy }]), {
      _tag: "UpstreamError",
      detail: "a: server error",
      retryAfterSeconds: 4
    })
  })
})
