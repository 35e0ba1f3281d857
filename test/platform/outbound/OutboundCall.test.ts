import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { readUpTo, targetOf } from "../../../src/platform/outbound/OutboundCall.ts"
import { upstream } from "../../providers/upstream.ts"
import { post } from "./OutboundFixture.ts"

describe("targetOf", () => {
  it("splits a URL", () => {
    assert.deepStrictEqual(targetOf("https://api.example.com:8443/v1/x?y=1"), {
      origin: "https://api.example.com:8443",
      path: "/v1/x?y=1"
    })
  })
})

layer(Outbound.layer, { excludeTestServices: true })("readUpTo", (it) => {
  it.effect("reads at most the requested bytes of a body", () =>
    Effect.gen(function* () {
      const outbound = yield* Outbound
      const host = yield* upstream((_, response) => response.end("x".repeat(100_000)))
      const stream = yield* outbound.open(post(host.origin))
      assert.strictEqual((yield* readUpTo(stream, 1_000)).length, 1_000)
    }).pipe(Effect.scoped)
  )
})
