import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { foldStreams } from "../../../src/providers/wire/FoldedStream.ts"
import { asked } from "../../support/Conversations.ts"
import { chatCall } from "../calls.ts"
import { scripted } from "../pools.ts"

const text = (words: string) => [{ _tag: "Text", text: words }] as const

describe("a complete answer requested as a stream", () => {
  it.effect("collects the whole stream and closes it", () =>
    Effect.gen(function* () {
      const { closed, provider } = scripted("a", [text("a"), text("b"), [{ _tag: "Finish", reason: "stop" }]])
      const output = yield* foldStreams(provider).chat(chatCall({ folds: true }))
      assert.deepStrictEqual([output.text, output.finish, closed()], ["ab", "stop", 1])
      yield* foldStreams(provider).chat(chatCall())
      assert.strictEqual(closed(), 1)
    })
  )

  it.effect("fails when the stream breaks off or exceeds the size limit", () =>
    Effect.gen(function* () {
      const broken = { _tag: "Broken", detail: "X" } as const
      const cut = scripted("a", [text("a")], broken)
      const error = yield* Effect.flip(foldStreams(cut.provider).chat(chatCall({ folds: true })))
      assert.deepStrictEqual([error.fault, cut.closed()], [broken, 1])
      const endless = scripted(
        "a",
        Array.from({ length: 40 }, () => text("x".repeat(1_000_000)))
      )
      const long = yield* Effect.flip(foldStreams(endless.provider).chat(chatCall({ folds: true })))
      assert.strictEqual(long.fault._tag, "Malformed")
    })
  )

  it.effect("is lost, without blame for the provider, when the caller's log-probabilities make it too long", () =>
    Effect.gen(function* () {
      const weighed = [{ _tag: "Logprobs", content: ["x".repeat(1_000_000)] }] as const
      const { provider } = scripted(
        "a",
        Array.from({ length: 40 }, () => weighed)
      )
      const conversation = asked("hello", { sampling: { logprobs: true } })
      const { fault } = yield* Effect.flip(foldStreams(provider).chat(chatCall({ folds: true, conversation })))
      assert.deepInclude(fault, { _tag: "Lost", ours: true, param: "logprobs" })
    })
  )
})
