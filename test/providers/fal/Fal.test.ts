import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { PublicFetch } from "../../../src/platform/outbound/PublicFetch.ts"
import { makeFal } from "../../../src/providers/fal/Fal.ts"
import { chatCall } from "../calls.ts"
import { videoWork, workCall } from "../work.ts"
import { upstream } from "../upstream.ts"

const clients = Layer.mergeAll(Outbound.layer, PublicFetch.layerFrom({ allowLoopback: true }))

layer(clients, { excludeTestServices: true })("fal", (it) => {
  it.effect("makes images and videos with one key, and offers nothing else", () =>
    Effect.gen(function* () {
      const keys: Array<string | undefined> = []
      const { origin } = yield* upstream((request, response) => {
        keys.push(request.headers.authorization)
        response.end('{"request_id":"one"}')
      })
      const fal = yield* makeFal({ id: "fal", baseUrl: `${origin}/`, apiKey: Redacted.make("fal-planted") })
      const call = workCall({}, "bytedance/seedance-2.0")
      assert.strictEqual((yield* fal.makeVideo!(call, videoWork())).ticket, "/bytedance/seedance-2.0/requests/one")
      assert.deepStrictEqual(keys, ["Key fal-planted"])
      assert.isDefined(fal.makeImages)
      assert.deepStrictEqual([fal.embed, fal.speak, fal.search], [undefined, undefined, undefined])
      assert.strictEqual((yield* Effect.flip(fal.chat(chatCall()))).fault._tag, "Refused")
    }).pipe(Effect.scoped)
  )
})
