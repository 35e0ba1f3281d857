import { assert, describe, it } from "@effect/vitest"
import type { OutputEvent } from "../../../src/domain/Output.ts"
import type { ProviderFault } from "../../../src/providers/ProviderError.ts"
import { type FrameReader, SseFold } from "../../../src/providers/wire/SseFold.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** A format in which a frame is a text, `bye` ends the stream, and `bad` is a fault. */
const scene = () => {
  const endings: Array<boolean> = []
  const fold = new SseFold((out): FrameReader => {
    let done = false
    let fault: ProviderFault | undefined
    return {
      get done() {
        return done
      },
      get stopped() {
        return done
      },
      get fault() {
        return fault
      },
      read: ({ data }, ending) => {
        endings.push(ending)
        if (data === "bye") done = true
        else if (data === "bad") fault = { _tag: "Broken", detail: data }
        else out.push({ _tag: "Text", text: data })
      },
      end: () => [{ _tag: "Finish", reason: "stop" }]
    }
  })
  return { fold, endings }
}

const textOf = (events: ReadonlyArray<OutputEvent>) => events.map((event) => (event._tag === "Text" ? event.text : "?"))

describe("SseFold", () => {
  it("returns the events of the frames that each piece completes, once", () => {
    const { fold } = scene()
    assert.deepStrictEqual(textOf(fold.push(bytesOf("data: a\n\ndata: b\n\nda"))), ["a", "b"])
    assert.deepStrictEqual(fold.push(bytesOf("ta: c\n")), [])
    assert.deepStrictEqual(textOf(fold.push(bytesOf("\n"))), ["c"])
    assert.deepStrictEqual(fold.end(), [{ _tag: "Finish", reason: "stop" }])
  })

  it("reads no frame without data, and none after the end or a fault", () => {
    const ended = scene()
    assert.deepStrictEqual(
      textOf(ended.fold.push(bytesOf("event: x\n\ndata:\n\ndata: a\n\ndata: bye\n\ndata: b\n\n"))),
      ["a"]
    )
    assert.isTrue(ended.fold.done)
    const broken = scene()
    assert.deepStrictEqual(textOf(broken.fold.push(bytesOf("data: a\n\ndata: bad\n\ndata: b\n\n"))), ["a"])
    assert.deepStrictEqual(broken.fold.fault, { _tag: "Broken", detail: "bad" })
  })

  it("passes to the reader that the body has ended with the last frame", () => {
    const { endings, fold } = scene()
    fold.push(bytesOf("data: a\n\ndata: b"))
    assert.deepStrictEqual(textOf(fold.flush()), ["b"])
    assert.deepStrictEqual(endings, [false, true])
  })

  it("reports a frame that is too long as a fault", () => {
    const { fold } = scene()
    fold.push(bytesOf(`data: ${"x".repeat(4 * 1024 * 1024)}`))
    assert.strictEqual(fold.fault?._tag, "Malformed")
  })
})
