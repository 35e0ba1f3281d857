import { assert, describe, it } from "@effect/vitest"
import { encodeImages } from "../../../src/dialects/images/ImagesEncode.ts"

const answer = {
  requestId: "req_1",
  created: 1_700_000_000,
  resolvedModel: "flux-dev",
  provider: "fal",
  cost: 25_000_000n,
  balanceWarning: undefined
}

describe("encodeImages", () => {
  it("returns each image as its URL or as its bytes", () => {
    const value = [{ url: "https://a/files/1" }, { base64: "AAAA", revisedPrompt: "a red kite" }]
    assert.deepStrictEqual(encodeImages({ ...answer, value }), {
      created: 1_700_000_000,
      data: [{ url: "https://a/files/1" }, { b64_json: "AAAA", revised_prompt: "a red kite" }],
      model: "flux-dev",
      provider: "fal",
      cost_usd: 0.025,
      request_id: "req_1"
    })
  })

  it("warns of a low balance", () => {
    const { balance_warning } = encodeImages({ ...answer, value: [], balanceWarning: "below $5.00" })
    assert.deepStrictEqual(balance_warning, { warning: "low_balance", threshold: "below $5.00" })
  })
})
