import { assert, describe, it } from "@effect/vitest"
import { OutboundError, type OutboundReason } from "../../src/platform/outbound/OutboundCall.ts"
import { faultOfOutbound, presentable, retryAfterSeconds } from "../../src/providers/Failure.ts"
import type { ProviderFault } from "../../src/providers/ProviderError.ts"
import { RETRY_AFTER_NOW, retryAfters } from "../support/RetryAfters.ts"

const NOW = Date.parse("2026-03-01T12:00:00Z")

describe("retryAfterSeconds", () => {
  const cases: ReadonlyArray<readonly [Record<string, string>, number | undefined]> = [
    [{ "retry-after": "7" }, 7],
    [{ "retry-after": "0.2" }, 1],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "Sun, 01 Mar 2026 12:00:30 GMT" }, 30],
    [{ "retry-after": "Sun, 01 Mar 2026 11:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "86401" }, 86_400],
    [{ "retry-after": "9".repeat(400) }, 86_400],
    [{ "retry-after": "Fri, 01 Mar 2126 12:00:00 GMT" }, 86_400],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 2],
    [{ "retry-after-ms": "", "retry-after": "9" }, 9],
    [{ "retry-after-ms": "Infinity", "retry-after": "9" }, 9],
    [{}, undefined]
  ]
  for (const [headers, seconds] of cases) {
    it(`reads ${JSON.stringify(headers).slice(0, 80)} as ${seconds}`, () =>
      assert.strictEqual(retryAfterSeconds(headers, NOW), seconds))
  }
})

describe("the pause of a provider", () => {
  it("follows every form of Retry-After, in whole seconds and at most a day", () => {
    for (const [header, ms] of retryAfters) {
      const seconds = ms === undefined ? undefined : Math.min(86_400, Math.max(0, Math.ceil(ms / 1_000)))
      assert.strictEqual(retryAfterSeconds({ "retry-after": header }, RETRY_AFTER_NOW), seconds, header)
    }
  })
})

describe("faultOfOutbound", () => {
  const cases: ReadonlyArray<readonly [OutboundReason, ProviderFault]> = [
    [
      { _tag: "Connect", detail: "ECONNREFUSED" },
      { _tag: "Unreachable", detail: "ECONNREFUSED" }
    ],
    [
      { _tag: "Broken", detail: "X", answered: false },
      { _tag: "Unreachable", detail: "X" }
    ],
    [
      { _tag: "Broken", detail: "X", answered: true },
      { _tag: "Broken", detail: "X" }
    ],
    [
      { _tag: "TimedOut", clock: "connect" },
      { _tag: "TimedOut", clock: "connect" }
    ],
    [
      { _tag: "TimedOut", clock: "first" },
      { _tag: "TimedOut", clock: "first_token" }
    ],
    [
      { _tag: "TimedOut", clock: "idle" },
      { _tag: "TimedOut", clock: "idle" }
    ],
    [
      { _tag: "TimedOut", clock: "total" },
      { _tag: "TimedOut", clock: "total" }
    ],
    [
      { _tag: "TimedOut", clock: "total", held: true },
      { _tag: "TimedOut", clock: "total", held: true }
    ],
    [
      { _tag: "TooLarge", limitBytes: 5 },
      { _tag: "Malformed", detail: "an answer longer than 5 bytes" }
    ]
  ]
  for (const [reason, fault] of cases) {
    it(`reads ${JSON.stringify(reason)} as ${fault._tag}`, () =>
      assert.deepStrictEqual(faultOfOutbound(new OutboundError({ reason })), fault))
  }
})

describe("presentable", () => {
  it("removes the credential from a host's message", () => {
    const fault: ProviderFault = { _tag: "Refused", status: 400, detail: "bad key sk-1, sk-1!" }
    assert.deepStrictEqual(presentable(fault, "sk-1"), { ...fault, detail: "bad key [secret], [secret]!" })
    assert.strictEqual(presentable(fault, ""), fault)
  })

  it("cuts a long detail without leaving part of a credential", () => {
    const fault: ProviderFault = { _tag: "ServerError", status: 500, detail: "x".repeat(497) + "sk-12345" }
    assert.deepStrictEqual(presentable(fault, ""), { ...fault, detail: "x".repeat(497) + "sk-" })
    assert.deepStrictEqual(presentable(fault, "sk-12345"), { ...fault, detail: "x".repeat(497) + "[se" })
  })

  it("cuts a long detail without leaving half a character", () => {
    const fault: ProviderFault = { _tag: "ServerError", status: 500, detail: "x".repeat(499) + "😀" }
    assert.deepStrictEqual(presentable(fault, ""), { ...fault, detail: "x".repeat(499) + "\uFFFD" })
  })
})
