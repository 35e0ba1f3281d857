import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { makeRandom } from "../../../src/admin/demo/Calendar.ts"
import { callAt, keyNames } from "../../../src/admin/demo/Traffic.ts"
import { parseSteering } from "../../../src/providers/sandbox/Steering.ts"

describe("the demo's requests", () => {
  it("use every key and several operations, and are steered as the sandbox accepts", () => {
    const random = makeRandom(1)
    const calls = Array.from({ length: 2_000 }, (_, at) => callAt(random, at % 24))
    assert.sameMembers([...new Set(calls.map(({ key }) => key))], [...keyNames])
    assert.isAtLeast(new Set(calls.map(({ path }) => path)).size, 7)
    for (const { play } of calls) assert.isTrue(Result.isSuccess(parseSteering(play)), play)
    const troubled = calls.filter(({ play }) => play.includes("fault=")).length
    assert.isAbove(troubled, 10)
    assert.isBelow(troubled, 200)
  })
})
