import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { receiver, status } from "./Receiver.ts"

describe("a receiver", () => {
  it.live("has a message once it has answered it", () =>
    Effect.gen(function* () {
      let answered = 0
      const hook = yield* receiver((message, response) => {
        answered++
        status(200)(message, response)
      })
      const sent = Effect.promise(() => fetch(hook.url, { method: "POST" }))
      yield* Effect.all(
        [
          Effect.andThen(
            hook.have(1),
            Effect.sync(() => assert.strictEqual(answered, 1))
          ),
          sent
        ],
        {
          concurrency: 2
        }
      )
    }).pipe(Effect.scoped)
  )
})
