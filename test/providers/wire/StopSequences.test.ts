import { assert, describe, it } from "@effect/vitest"
import { stopSequencesOf } from "../../../src/providers/wire/StopSequences.ts"

describe("stopSequencesOf", () => {
  it("keeps non-empty stop sequences, including whitespace", () => {
    assert.deepStrictEqual(stopSequencesOf({ stop: ["END", "", "\n"] }), ["END", "\n"])
    for (const sampling of [{}, { stop: [] }, { stop: ["", ""] }]) assert.isUndefined(stopSequencesOf(sampling))
  })
})
