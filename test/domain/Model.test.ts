import { assert, describe, it } from "@effect/vitest"
import { type Capability, type Offer, offerReadsPdf, readsPdf } from "../../src/domain/Model.ts"

const offer = (provider: string, unsupported: ReadonlyArray<Capability> = []): Offer => ({
  provider,
  upstreamId: "m",
  price: undefined,
  contextWindow: 1,
  maxOutputTokens: 1,
  unsupported
})
const sees = { capabilities: ["vision"] } as const

describe("a PDF file", () => {
  it("can be read by a model with vision at the APIs of Anthropic, Google or OpenAI", () => {
    for (const provider of ["anthropic", "gemini", "openai"]) {
      assert.isTrue(offerReadsPdf(sees, offer(provider)))
      assert.isFalse(offerReadsPdf({ capabilities: [] }, offer(provider)))
      assert.isFalse(offerReadsPdf(sees, offer(provider, ["vision"])))
    }
    for (const provider of ["openrouter", "bedrock", "vertex", "xai"]) {
      assert.isFalse(offerReadsPdf(sees, offer(provider)))
    }
  })

  it("can be read by a model with at least one such offer", () => {
    assert.isTrue(readsPdf({ ...sees, offers: [offer("openrouter"), offer("openai")] }))
    assert.isFalse(readsPdf({ ...sees, offers: [offer("openrouter")] }))
  })
})
