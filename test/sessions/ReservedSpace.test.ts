import { assert, describe, it } from "@effect/vitest"
import { MAX_ACCOUNT_RESERVED_BYTES, MAX_RESERVED_BYTES, ReservedSpace } from "../../src/sessions/ReservedSpace.ts"

const place = { accountId: "a", session: "s" }
const wide = { session: { messages: 1_000, bytes: 2 * MAX_RESERVED_BYTES }, accountBytes: 2 * MAX_RESERVED_BYTES }
const size = (bytes: number, messages = 1) => ({ messages, bytes })

describe("space reserved for turns", () => {
  it("is at most what is left in their session, in messages and in bytes", () => {
    const reserved = new ReservedSpace()
    const left = { ...wide, session: { messages: 3, bytes: 10 } }
    assert.isDefined(reserved.take(place, size(4, 2), left))
    assert.isUndefined(reserved.take(place, size(1, 2), left))
    assert.isUndefined(reserved.take(place, size(7), left))
    assert.isDefined(reserved.take({ ...place, session: "other" }, size(7), left))
    assert.isDefined(reserved.take(place, size(6), left))
  })

  it("is at most what is left in their account, over all of its sessions", () => {
    const reserved = new ReservedSpace()
    const left = { ...wide, accountBytes: 10 }
    assert.isDefined(reserved.take(place, size(6), left))
    assert.isUndefined(reserved.take({ ...place, session: "other" }, size(5), left))
    assert.isDefined(reserved.take({ accountId: "b", session: "third" }, size(5), left))
  })

  it("is limited per account, so that other accounts have their share", () => {
    const reserved = new ReservedSpace()
    assert.isDefined(reserved.take(place, size(MAX_ACCOUNT_RESERVED_BYTES), wide))
    assert.isUndefined(reserved.take({ ...place, session: "other" }, size(1), wide))
    for (let bytes = MAX_ACCOUNT_RESERVED_BYTES; bytes < MAX_RESERVED_BYTES; bytes += MAX_ACCOUNT_RESERVED_BYTES) {
      const other = { accountId: `b${bytes}`, session: `s${bytes}` }
      assert.isDefined(reserved.take(other, size(MAX_ACCOUNT_RESERVED_BYTES), wide))
    }
    assert.strictEqual(reserved.bytes, MAX_RESERVED_BYTES)
    assert.isUndefined(reserved.take({ accountId: "c", session: "c" }, size(1), wide))
  })

  it("is released only once", () => {
    const reserved = new ReservedSpace()
    const left = { ...wide, session: { messages: 2, bytes: 10 } }
    const giveBack = reserved.take(place, size(10), left)
    assert.isUndefined(reserved.take(place, size(1), left))
    giveBack?.()
    giveBack?.()
    assert.strictEqual(reserved.bytes, 0)
    assert.isDefined(reserved.take(place, size(10), left))
    assert.isUndefined(reserved.take(place, size(1), left))
  })
})
