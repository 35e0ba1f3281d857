import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { layer, McpEndpoint } from "../../../src/http/edge/Mcp.ts"

const said = (text: string) => Effect.succeed(HttpServerResponse.text(text))

const endpoint = Layer.succeed(McpEndpoint, {
  post: said("posted"),
  end: said("ended"),
  refused: (method: string) => said(`${method} refused`)
})

describe("/mcp", () => {
  it("serves POST and DELETE, and refuses every other method", async () => {
    const { dispose, handler } = HttpRouter.toWebHandler(Layer.provide(layer, endpoint), { disableLogger: true })
    const answers = await Promise.all(
      ["POST", "DELETE", "GET", "PUT", "PATCH", "OPTIONS"].map(async (method) =>
        (await handler(new Request("http://gateway/mcp", { method }))).text()
      )
    )
    await dispose()
    assert.deepStrictEqual(answers, [
      "posted",
      "ended",
      ...["GET", "PUT", "PATCH", "OPTIONS"].map((m) => `${m} refused`)
    ])
  })
})
