import { assert, describe, it } from "@effect/vitest"
import { endUserOf } from "../../../src/providers/openai/EndUser.ts"

describe("endUserOf", () => {
  it("keeps an id of up to 64 characters and hashes a longer one", () => {
    for (const user of ["", "u".repeat(64)]) assert.strictEqual(endUserOf(user), user)
    const long = endUserOf("u".repeat(65))
    assert.match(long, /^[0-9a-f]{64}$/)
    assert.strictEqual(endUserOf("u".repeat(65)), long)
    assert.notStrictEqual(endUserOf("u".repeat(66)), long)
  })
})
