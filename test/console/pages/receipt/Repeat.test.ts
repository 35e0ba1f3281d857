import { assert, describe, it } from "@effect/vitest"
import type { RequestReceipt } from "../../../../src/client/Contract.ts"
import { commandsOf } from "../../../../src/console/pages/receipt/Repeat.ts"

const of = (operation: string, streamed = false) =>
  commandsOf({ id: "req_1", model: "gpt-4o", operation, streamed } as RequestReceipt, "http://localhost:8787")

describe("the commands of a receipt", () => {
  it("repeat the operation with its model, without a secret", () => {
    const [repeat, read] = of("chat.completions", true)
    assert.include(repeat?.code, "http://localhost:8787/api/v1/chat/completions")
    assert.include(repeat?.code, '"model":"gpt-4o"')
    assert.include(repeat?.code, '"stream":true')
    assert.include(repeat?.code, "Bearer $KEY")
    assert.include(read?.code, "/api/v1/requests/req_1")
    assert.deepStrictEqual([repeat?.language, read?.language], ["bash", "bash"])
    assert.include(of("messages")[0]?.code, '"max_tokens"')
  })

  it("only read the receipt when one command cannot repeat the operation", () => {
    assert.deepStrictEqual(
      of("videos").map(({ name }) => name),
      ["Read this receipt"]
    )
  })
})
