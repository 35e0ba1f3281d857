import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { RequestId, ResourceId } from "../../schemas/Ids.ts"
import {
  firstRequestIdAt,
  firstResourceIdAt,
  isFileId,
  isResourceId,
  newFileId,
  newRequestId,
  newResourceId,
  timeOfFileId,
  timeOfResourceId
} from "../../src/platform/Ids.ts"

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
  it("made from a time separate earlier ids from later ones", () => {
    const [before, id] = [Date.now(), newRequestId()]
    assert.isTrue(Schema.is(RequestId)(firstRequestIdAt(before)))
    assert.isTrue(firstRequestIdAt(before) <= id)
    assert.isTrue(id < firstRequestIdAt(Date.now() + 1))
    assert.isTrue(firstRequestIdAt(1_000_000_000_000) < firstRequestIdAt(2_000_000_000_000))
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

  it("of resources ascend, even within a millisecond", () => {
    const ids = many(newResourceId)
    assert.isBelow(new Set(ids.map(timeOfResourceId)).size, ids.length)
    assert.deepStrictEqual(ids, ids.toSorted())
  })

  it("of resources contain their time, and none is less than the first id of its time", () => {
    const before = Date.now()
    const id = newResourceId()
    assert.isTrue(timeOfResourceId(id) >= before && timeOfResourceId(id) <= Date.now())
    assert.isTrue(firstResourceIdAt(before) <= id && id < firstResourceIdAt(Date.now() + 1))
    assert.strictEqual(timeOfResourceId(firstResourceIdAt(before)), before)
    assert.isTrue(isResourceId(firstResourceIdAt(0)) && isResourceId(firstResourceIdAt(2 ** 48 - 1)))
  })

  it("of files are safe as file names, contain their time and do not repeat", () => {
    const before = Date.now()
    const ids = many(newFileId)
    assert.strictEqual(new Set(ids.map((id) => id.slice(17))).size, ids.length)
    for (const id of ids) {
      assert.isTrue(isFileId(id), id)
      assert.isTrue(timeOfFileId(id) >= before && timeOfFileId(id) <= Date.now(), id)
    }
    const id = ids[0]!
    for (const other of ["", "..", `${id}0`, `${id}\n`, id.toUpperCase(), id.slice(0, -1), `../${id}`, `${id}.part`]) {
      assert.isFalse(isFileId(other), other)
    }
  })
})
