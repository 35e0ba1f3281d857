import { assert } from "@effect/vitest"
import { Effect } from "effect"

/** Returns the error with which a promise rejects. */
export const rejection = (promise: Promise<unknown>): Effect.Effect<unknown> =>
  Effect.promise(() =>
    promise.then(
      () => assert.fail("the promise did not reject"),
      (error: unknown) => error
    )
  )
