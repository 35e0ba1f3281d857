import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { speak } from "../../../src/providers/sandbox/Speak.ts"
import { workCall } from "../work.ts"

const work = { input: "Hello", voice: "nova", format: "pcm", speed: 1 } as const

const said = (more: Partial<Parameters<typeof speak>[2]> = {}, steering?: string) =>
  Effect.map(speak("up", workCall({ steering }), { ...work, ...more }), ({ audio }) => audio)

describe("the sandbox's speech", () => {
  it.live("is the text in the requested voice and speed", () =>
    Effect.gen(function* () {
      const hello = yield* said()
      assert.deepStrictEqual(yield* said(), hello)
      assert.closeTo((yield* said({ speed: 0.5 })).length, hello.length * 2, 100)
      const other = yield* said({ voice: "onyx" })
      assert.strictEqual(other.length, hello.length)
      assert.notDeepEqual(other, hello)
    })
  )

  it.live("is empty, or fails, when steered so", () =>
    Effect.gen(function* () {
      assert.lengthOf(yield* said({}, "fault=empty"), 0)
      assert.strictEqual((yield* Effect.flip(said({}, "fault=error"))).fault._tag, "ServerError")
    })
  )
})
