import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import type { Failure } from "../../../src/domain/Failure.ts"
import { MAX_BODY_BYTES, readJson } from "../../../src/http/edge/Body.ts"
import { BodyBudget, NodeBodyBudget } from "../../../src/http/edge/BodyBudget.ts"
import { json, startService } from "../../support/Service.ts"

const sent = (body: Uint8Array<ArrayBuffer> | string, encoding: string) => {
  const headers = { "content-type": "application/json", "content-encoding": encoding }
  return readJson(HttpServerRequest.fromWeb(new Request("http://test/", { method: "POST", body, headers })))
}

const refused = (body: Uint8Array<ArrayBuffer> | string, encoding: string) =>
  Effect.map(Effect.flip(sent(body, encoding)), (failed) => (failed as Failure).reason)

const packs: ReadonlyArray<readonly [string, (text: string) => Uint8Array<ArrayBuffer>]> = [
  ["gzip", gzipSync],
  ["X-Gzip", gzipSync],
  ["deflate", deflateSync],
  ["deflate", deflateRawSync],
  ["br", brotliCompressSync],
  [" zstd ", zstdCompressSync]
]

describe("a compressed body", () => {
  it.effect("is decompressed", () =>
    Effect.gen(function* () {
      for (const [encoding, pack] of packs) {
        const value = { text: "é😀".repeat(50_000) }
        assert.deepStrictEqual(yield* sent(pack(JSON.stringify(value)), encoding), value, encoding)
      }
      for (const encoding of ["", "identity", " Identity "]) assert.deepStrictEqual(yield* sent("{}", encoding), {})
    })
  )

  it.effect("is rejected when its encoding is unknown or its data invalid", () =>
    Effect.gen(function* () {
      for (const encoding of ["gzip, br", "x", "compress"]) {
        assert.strictEqual((yield* refused("{}", encoding))._tag, "UnsupportedMediaType", encoding)
      }
      for (const [encoding, pack] of packs) {
        for (const body of ["{}", pack(JSON.stringify("abc".repeat(100))).subarray(0, -4)]) {
          assert.strictEqual((yield* refused(body, encoding))._tag, "InvalidJson", encoding)
        }
      }
    })
  )

  it.effect("is rejected when it decompresses beyond the size limit, and frees its memory budget", () =>
    Effect.gen(function* () {
      const bomb = `"${"a".repeat(MAX_BODY_BYTES)}"`
      const budget = new BodyBudget(2 * MAX_BODY_BYTES)
      // To compress a bomb with Brotli takes seconds.
      for (const [encoding, pack] of packs.filter(([name]) => name !== "br")) {
        const reason = yield* refused(pack(bomb), encoding).pipe(Effect.provideService(NodeBodyBudget, budget))
        assert.deepStrictEqual(reason, { _tag: "RequestTooLarge", limitBytes: MAX_BODY_BYTES }, encoding)
        assert.strictEqual(budget.used, 0)
      }
      const little = new BodyBudget(1_000)
      const failed = yield* refused(gzipSync(`"${"a".repeat(5_000)}"`), "gzip").pipe(
        Effect.provideService(NodeBodyBudget, little)
      )
      assert.strictEqual(failed._tag, "Overloaded")
      assert.strictEqual(little.used, 0)
    })
  )

  it.live("is accepted by the API, and a decompression bomb gets 413", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const ask = (body: Uint8Array<ArrayBuffer>, encoding: string) =>
        Effect.promise(() =>
          fetch(`${service.api}/chat/completions`, {
            method: "POST",
            headers: {
              authorization: `Bearer ${inferenceKey}`,
              "content-type": "application/json",
              "content-encoding": encoding
            },
            body
          })
        )
      const body = JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] })
      for (const [encoding, pack] of packs) {
        assert.strictEqual((yield* ask(pack(body), encoding.trim())).status, 200, encoding)
      }
      const bomb = yield* ask(gzipSync(`"${"a".repeat(MAX_BODY_BYTES)}"`), "gzip")
      assert.strictEqual(bomb.status, 413)
      assert.strictEqual((yield* json(bomb)).error.code, "request_too_large")
    }).pipe(Effect.scoped)
  )
})
