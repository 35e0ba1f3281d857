import { assert, describe, it } from "@effect/vitest"
import { invalid, type Reason } from "../../src/domain/Failure.ts"
import { MAX_MESSAGE } from "../../src/http/FailureMessages.ts"
import { messageOf, rowOf, table } from "../../src/http/FailureRows.ts"

describe("a row of the table of failures", () => {
  it("asks for a bearer token with 401 and with no other status", () => {
    for (const [tag, row] of Object.entries(table)) {
      if (tag === "MethodNotAllowed") continue
      const asks = "www-authenticate" in row.headers({ _tag: tag } as never)
      assert.strictEqual(asks, row.status === 401, tag)
    }
  })

  it("lets clients retry temporary failures", () => {
    const credits = (limitSource: "balance" | "in_flight"): Reason => ({
      _tag: "InsufficientCredits",
      limitSource,
      needed: 1n,
      available: 0n,
      posted: 1n
    })
    const retryOf = (reason: Reason) => [rowOf(reason).isTransient(reason), rowOf(reason).retryAfter(reason)]
    assert.deepStrictEqual(retryOf(credits("in_flight")), [true, 1])
    assert.deepStrictEqual(retryOf(credits("balance")), [false, undefined])
    assert.deepStrictEqual(retryOf({ _tag: "NoProviderAvailable", detail: "d", retryAfterSeconds: 3 }), [true, 3])
    assert.deepStrictEqual(retryOf({ _tag: "NoProviderAvailable", detail: "d" }), [false, undefined])
  })

  it("has a message of bounded length", () => {
    const others = Array.from({ length: 31 }, () => ({ field: "f".repeat(200), message: "is required" }))
    assert.strictEqual(messageOf(invalid("a", "is required", ...others).reason).length, MAX_MESSAGE)
  })
})
