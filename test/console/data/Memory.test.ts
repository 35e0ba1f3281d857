import { assert, describe, it } from "@effect/vitest"
import { keepKey, keyInMemory } from "../../../src/console/data/KeyInMemory.ts"
import { forgetMemory, onForget } from "../../../src/console/data/Memory.ts"

describe("the memory of the page", () => {
  it("is cleared completely, each time", () => {
    let times = 0
    onForget(() => times++)
    keepKey({ id: "key_1", name: "First key", secret: "svc_sk_secret" })
    forgetMemory()
    forgetMemory()
    assert.strictEqual(times, 2)
    assert.isUndefined(keyInMemory())
  })
})
