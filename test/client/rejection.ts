import { assert } from "@effect/vitest"
import { Effect } from "effect"

/** What a promise is rejected with. */
export const rejection = (promise: Promise<unknown>): Effect.Effect<unknown> =>
  Effect.promise(() =>
    promise.then(
      () => assert.fail("it must fail"),
      (error: unknown) => error
    )
  )
