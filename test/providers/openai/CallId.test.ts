import { assert, describe, it } from "@effect/vitest"
import { callIdFor } from "../../../src/providers/openai/CallId.ts"
import { candidate } from "../calls.ts"

const at = (vendor: string) => candidate("up", { model: { vendor } })

/** As vLLM gives them, at 46 characters. */
const long = `chatcmpl-tool-${"0".repeat(32)}`

describe("callIdFor", () => {
  it("keeps an id of up to 40 characters and replaces a longer one with a derived id", () => {
    for (const id of ["", "call_1", "functions.f:0", "x".repeat(40)])
      assert.strictEqual(callIdFor(id, at("openai")), id)
    const made = callIdFor(long, at("openai"))
    assert.match(made, /^call_[0-9a-f]{32}$/)
    assert.strictEqual(callIdFor(long, at("openai")), made)
    assert.notStrictEqual(callIdFor(`${long}1`, at("openai")), made)
  })

  it("replaces any id other than nine letters and digits for Mistral's models", () => {
    assert.strictEqual(callIdFor("Abc123xyZ", at("mistral")), "Abc123xyZ")
    const ids = ["", "call_1", "call_2", long, "Abc123xy_"]
    const made = ids.map((id) => callIdFor(id, at("mistral")))
    for (const id of made) assert.match(id, /^[A-Za-z0-9]{9}$/)
    assert.strictEqual(new Set(made).size, ids.length)
  })
})
