import { assert, describe, it } from "@effect/vitest"
import { secondsOf } from "../../src/domain/UnixTime.ts"

describe("secondsOf", () => {
  it("rounds a time down to Unix seconds, and leaves null as it is", () => {
    assert.strictEqual(secondsOf(new Date(1_999)), 1)
    const time: Date | null = null
    assert.isNull(secondsOf(time))
  })
})
