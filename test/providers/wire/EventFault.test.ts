import { assert, describe, it } from "@effect/vitest"
import { errorIn, faultOfNoObject } from "../../../src/providers/wire/EventFault.ts"

describe("the error of an event", () => {
  it("is its non-empty error field", () => {
    for (const error of [{ message: "m" }, "m", true, 500, ["m"]]) assert.strictEqual(errorIn({ error }), error)
    for (const error of [null, undefined, "", false, 0, {}, []]) assert.isUndefined(errorIn({ error, choices: [] }))
  })

  it("is the event itself when its name or type is error", () => {
    const [object, type, other] = [{ object: "error" }, { type: "error" }, { type: "ping" }]
    assert.deepStrictEqual([errorIn(object), errorIn(type), errorIn(other)], [object, type, undefined])
    assert.deepStrictEqual([errorIn(other, "error"), errorIn(other, "ping")], [other, undefined])
  })

  it("is the text of a non-JSON event named error, and none for a truncated last event", () => {
    assert.deepStrictEqual(faultOfNoObject("busy", "error", true), { _tag: "ServerError", status: 500, detail: "busy" })
    assert.deepInclude(faultOfNoObject("busy", "", false), { _tag: "Malformed" })
    assert.isUndefined(faultOfNoObject("{", "", true))
  })
})
