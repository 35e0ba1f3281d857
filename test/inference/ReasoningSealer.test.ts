import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ReasoningPart } from "../../src/domain/Conversation.ts"
import { emptyOutput, eventsOf, OutputFold, type OutputEvent, outputPieces } from "../../src/domain/Output.ts"
import { ReasoningSealer, sealedOutput } from "../../src/inference/ReasoningSealer.ts"
import { MAX_SEALED_BYTES, ReasoningSeals } from "../../src/inference/ReasoningSeals.ts"
import { candidate } from "../providers/calls.ts"
import { seals as layer } from "../support/Seals.ts"

const thought = (text: string): OutputEvent => ({ _tag: "Reasoning", text })
const end = (data: Readonly<Record<string, unknown>>): OutputEvent => ({ _tag: "ReasoningEnd", data })
const text = (words: string): OutputEvent => ({ _tag: "Text", text: words })
const start = (index: number): OutputEvent => ({ _tag: "ToolStart", index, id: `call_${index}`, name: "f" })
const finish: OutputEvent = { _tag: "Finish", reason: "stop" }

interface Scene {
  readonly sealer: ReasoningSealer
  readonly opened: (event: OutputEvent | undefined) => ReasoningPart | undefined
}

const test = (name: string, body: (scene: Scene) => void) =>
  it.effect(name, () =>
    Effect.map(ReasoningSeals, (seals) =>
      body({
        sealer: new ReasoningSealer(seals, "one", candidate("anthropic", { upstreamId: "claude-x" })),
        opened: (event) =>
          event?._tag === "ReasoningEnd" && event.data === undefined
            ? seals.openFor("one")(event.seal ?? "")
            : assert.fail(`not a sealed event: ${JSON.stringify(event)}`)
      })
    ).pipe(Effect.provide(layer))
  )

const origin = { provider: "anthropic", model: "claude-x" }

describe("ReasoningSealer", () => {
  test("leaves events without reasoning unchanged", ({ sealer }) => {
    const events = [text("a"), start(0), finish]
    assert.strictEqual(sealer.push(events), events)
    assert.deepStrictEqual(sealer.end(), [])
  })

  test("replaces each provider's data by a seal, with the position of its block", ({ opened, sealer }) => {
    const first = sealer.push([
      thought("h"),
      thought("m"),
      end({ signature: "s" }),
      end({ redacted: "r" }),
      text("abc")
    ])
    const second = sealer.push([start(0), thought("so"), end({ signature: "t" }), start(1), finish])
    assert.deepStrictEqual(
      [...first, ...second].map(({ _tag }) => _tag),
      [
        "Reasoning",
        "Reasoning",
        "ReasoningEnd",
        "ReasoningEnd",
        "Text",
        "ToolStart",
        "Reasoning",
        "ReasoningEnd",
        "ToolStart",
        "Finish"
      ]
    )
    const before = { text: 0, calls: 0 }
    assert.deepStrictEqual(opened(first[2]), {
      text: "hm",
      place: before,
      origin: { ...origin, data: { signature: "s" } }
    })
    assert.deepStrictEqual(opened(first[3]), {
      text: "",
      place: before,
      origin: { ...origin, data: { redacted: "r" } }
    })
    assert.deepStrictEqual(opened(second[2]), {
      text: "so",
      place: { text: 3, calls: 1 },
      origin: { ...origin, data: { signature: "t" } }
    })
  })

  test("seals reasoning without provider data when another kind of event begins or the answer ends", (scene) => {
    const { opened, sealer } = scene
    const [, sealed, ...rest] = sealer.push([thought("hm"), text("a")])
    assert.deepStrictEqual(opened(sealed), { text: "hm", place: { text: 0, calls: 0 }, origin })
    assert.deepStrictEqual(rest, [text("a")])
    assert.deepStrictEqual(sealer.push([thought("more")]), [thought("more")])
    const [last, none] = sealer.end()
    assert.deepStrictEqual(opened(last), { text: "more", place: { text: 1, calls: 0 }, origin })
    assert.isUndefined(none)
    assert.deepStrictEqual(sealer.end(), [])
  })

  test("returns a block without a seal when it is too long, and seals the next one", ({ opened, sealer }) => {
    const long = sealer.push([thought("x".repeat(MAX_SEALED_BYTES)), thought("x"), end({ signature: "s" }), text("a")])
    assert.deepStrictEqual(
      long.map(({ _tag }) => _tag),
      ["Reasoning", "Reasoning", "Text"]
    )
    const [, sealed] = sealer.push([thought("hm"), finish])
    assert.strictEqual(opened(sealed)?.text, "hm")
  })

  test("seals a complete answer like its events", ({ opened, sealer }) => {
    assert.strictEqual(sealedOutput(sealer, emptyOutput), emptyOutput)
    const fold = new OutputFold()
    const usage = { input: 1, cached: 0, cacheWrite: 0, output: 1, reasoning: 1 }
    for (const event of [thought("hm"), end({ signature: "s" }), text("a"), finish]) fold.push(event)
    fold.push({ _tag: "Usage", usage })
    const sealed = sealedOutput(sealer, fold.output())
    assert.deepInclude(sealed, { text: "a", reasoning: "hm", finish: "stop", usage })
    assert.deepInclude(opened(eventsOf(sealed)[1]), { text: "hm" })
    const [first] = outputPieces(sealed)
    assert.deepStrictEqual(Object.keys(first ?? {}), ["kind", "text", "seal"])
  })
})
