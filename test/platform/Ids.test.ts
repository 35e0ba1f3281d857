import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { RequestId, ResourceId } from "../../schemas/Ids.ts"
import { newRequestId, newResourceId } from "../../src/platform/Ids.ts"

const many = <A>(make: () => A) => Array.from({ length: 5_000 }, make)

describe("Ids", () => {
  it("have the documented forms and do not repeat", () => {
    for (const [make, schema] of [
      [newRequestId, RequestId],
      [newResourceId, ResourceId]
    ] as const) {
      const ids = many(make)
      assert.isTrue(ids.every(Schema.is(schema)))
      assert.strictEqual(new Set(ids).size, ids.length)
    }
  })
  it("begin with the time, so that later ids sort after earlier ones", () => {
    const headOf = (id: string) => id.slice(0, -16)
    const heads = many(newRequestId).map(headOf)
    assert.deepStrictEqual(heads, heads.toSorted())
    const before = Date.now()
    const stamp = Number.parseInt(newResourceId().slice(0, 12), 16)
    assert.isAtLeast(stamp, before)
    assert.isAtMost(stamp, Date.now())
  })
})
