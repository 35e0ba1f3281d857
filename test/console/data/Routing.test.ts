import { assert, describe, it } from "@effect/vitest"
import { changed, policyOf, policyWords } from "../../../src/console/data/Routing.ts"

describe("routing options in a form", () => {
  it("keep other options on a change, and drop an empty group", () => {
    const policy = changed({ strategy: "cost" as const }, { providers: changed({}, { only: ["openai"] }) })
    assert.deepStrictEqual(policy, { strategy: "cost", providers: { only: ["openai"] } } as object)
    const without = changed(policy, { providers: changed({ only: ["openai"] }, { only: [] }) })
    assert.deepStrictEqual(without, { strategy: "cost" } as object)
    assert.deepStrictEqual(changed({ allow_fallbacks: false }, {}), { allow_fallbacks: false })
  })

  it("are null for the API when none is set", () => {
    assert.isNull(policyOf({}))
    assert.deepStrictEqual(policyOf({ strategy: "cost" }), { strategy: "cost" })
  })

  it("are summarized in a few words", () => {
    assert.isUndefined(policyWords(null))
    assert.isUndefined(policyWords({}))
    assert.strictEqual(
      policyWords({
        strategy: "latency",
        providers: { only: ["openai", "azure"] },
        data_policy: "zero_retention",
        allow_fallbacks: false
      }),
      "latency · only openai, azure · zero retention · no fallbacks"
    )
  })
})
