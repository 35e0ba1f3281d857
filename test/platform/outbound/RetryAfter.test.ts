import { assert, describe, it } from "@effect/vitest"
import { retryAfterMs } from "../../../src/platform/outbound/RetryAfter.ts"
import { RETRY_AFTER_NOW, retryAfters } from "../../support/RetryAfters.ts"

describe("retryAfterMs", () => {
  for (const [header, ms] of retryAfters) {
    it(`reads ${JSON.stringify(header).slice(0, 40)} as ${ms}`, () =>
      assert.strictEqual(retryAfterMs(header, RETRY_AFTER_NOW), ms))
  }
})
