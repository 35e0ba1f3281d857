import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileObjectOf } from "../../src/http/BatchFiles.ts"
import type { StoredFile } from "../../src/platform/Media.ts"
import { get, json, startService } from "../support/Service.ts"

const file: StoredFile = {
  ...{ id: "file_1", accountId: "a", purpose: "batch_input", bytes: 7, contentType: "application/jsonl" },
  ...{ name: undefined, createdAt: new Date(1_999), expiresAt: undefined }
}

describe("/files", () => {
  it("shows a file as OpenAI does", () => {
    assert.deepStrictEqual(fileObjectOf(file), {
      ...{ id: "file_1", object: "file", bytes: 7, created_at: 1, filename: "file_1", purpose: "batch" },
      ...{ status: "processed", expires_at: null }
    })
    const output = { ...file, purpose: "batch_output", name: "out", expiresAt: new Date(5_000) } as const
    assert.deepInclude(fileObjectOf(output), { purpose: "batch_output", filename: "out", expires_at: 5 })
  })

  it.live("gives the bytes as they were sent, under a name that can stand anywhere", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const sent = Buffer.from('{"a":"é"}\r\n\n{"b":1}')
      const made = yield* Effect.promise(async () => {
        const body = new FormData()
        body.append("purpose", "batch")
        body.append("file", new Blob([sent]), "../n\u200bé:w.jsonl")
        const headers = { authorization: `Bearer ${inferenceKey}` }
        return (await fetch(`${service.api}/files`, { method: "POST", headers, body })).json()
      })
      assert.notProperty(made, "error", JSON.stringify(made))
      assert.deepInclude(made, { bytes: sent.length, filename: ".._n_é:w.jsonl" })
      const response = yield* get(`${service.api}/files/${made.id}/content`, inferenceKey)
      assert.strictEqual(response.headers.get("content-length"), String(sent.length))
      assert.deepStrictEqual(Buffer.from(yield* Effect.promise(() => response.bytes())), sent)
      const wrong = yield* get(`${service.api}/files?after=x`, inferenceKey)
      assert.deepStrictEqual([wrong.status, (yield* json(wrong)).error.param], [400, "after"])
    }).pipe(Effect.scoped)
  )
})
