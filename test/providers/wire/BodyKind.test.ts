import { assert, describe, it } from "@effect/vitest"
import { areEvents, holdsEvents, kindOf } from "../../../src/providers/wire/BodyKind.ts"

const bytes = (text: string) => Buffer.from(text)
const json = { "content-type": "application/json" }
const sse = { "content-type": "text/event-stream; charset=utf-8" }

describe("the kind of a body", () => {
  it("is determined by its first bytes, not by its headers", () => {
    for (const headers of [json, sse, {}]) {
      for (const events of ["data: 1", "event: a", ": hi", "id: 1", "retry: 1", "\uFEFFdata: 1", "\n\n\ndata: 1"]) {
        assert.strictEqual(kindOf(bytes(events), headers, true), "events", events)
        assert.isTrue(holdsEvents(bytes(events)), events)
      }
      for (const whole of ['{"a":1}', " [1]", '\uFEFF{"a":1}', `${" ".repeat(50)}{}`]) {
        assert.strictEqual(kindOf(bytes(whole), headers, true), "whole", whole)
        assert.isFalse(holdsEvents(bytes(whole)), whole)
      }
    }
  })

  it("is taken from the headers when the bytes are ambiguous", () => {
    assert.deepStrictEqual(
      [kindOf(bytes("<html>"), json, true), kindOf(bytes("<html>"), sse, true)],
      ["whole", "events"]
    )
    assert.deepStrictEqual([kindOf(bytes(""), json, true), kindOf(bytes(""), sse, true)], ["whole", "events"])
    assert.strictEqual(kindOf(bytes(" ".repeat(40)), json, false), "whole")
  })

  it("is unknown until enough bytes have arrived", () => {
    assert.isUndefined(kindOf(bytes("\n"), sse, false))
    assert.isUndefined(kindOf(bytes("\x1f"), json, false))
    assert.isUndefined(kindOf(bytes("da"), { ...sse, "content-encoding": "br" }, false))
    assert.deepStrictEqual([kindOf(bytes("d"), json, false), kindOf(bytes("{"), sse, false)], ["events", "whole"])
  })

  it("is events from the first bytes when no compression is declared", () => {
    assert.isTrue(areEvents(bytes("data: 1"), sse))
    assert.isFalse(areEvents(bytes("data: 1"), { ...sse, "content-encoding": "gzip" }))
    assert.isFalse(areEvents(bytes(": hi"), sse))
  })
})
