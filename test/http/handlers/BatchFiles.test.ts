import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { fileObjectOf } from "../../../src/http/handlers/BatchFiles.ts"
import type { StoredFile } from "../../../src/platform/files/Media.ts"
import { layerUrl } from "../../support/Database.ts"
import { get, json, type Service, startService } from "../../support/Service.ts"

const file: StoredFile = {
  id: "file_1",
  accountId: "a",
  purpose: "batch_input",
  bytes: 7,
  contentType: "application/jsonl",
  name: undefined,
  createdAt: new Date(1_999),
  expiresAt: undefined
}

const upload = (service: Service, key: string, bytes: Uint8Array<ArrayBuffer>, name: string) =>
  Effect.promise(() => {
    const body = new FormData()
    body.append("purpose", "batch")
    body.append("file", new Blob([bytes]), name)
    return fetch(`${service.api}/files`, { method: "POST", headers: { authorization: `Bearer ${key}` }, body })
  })

/** A client that asks for a file and takes no more of it than its first bytes. */
const slowReader = (service: Service, id: string, key: string) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Socket>((resolve, reject) => {
          const { host, hostname, port } = new URL(service.api)
          const socket = connect(Number(port), hostname)
          socket.once("error", reject)
          socket.once("data", () => {
            socket.pause()
            resolve(socket)
          })
          socket.write(
            `GET /api/v1/files/${id}/content HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\n\r\n`
          )
        })
    ),
    (socket) => Effect.sync(() => socket.destroy())
  )

describe("/files", () => {
  it("shows a file as OpenAI does", () => {
    assert.deepStrictEqual(fileObjectOf(file), {
      id: "file_1",
      object: "file",
      bytes: 7,
      created_at: 1,
      filename: "file_1",
      purpose: "batch",
      status: "processed",
      expires_at: null
    })
    const output = { ...file, purpose: "batch_output", name: "out", expiresAt: new Date(5_000) } as const
    assert.deepInclude(fileObjectOf(output), { purpose: "batch_output", filename: "out", expires_at: 5 })
  })

  it.live("returns the uploaded bytes under a safe file name", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const sent = Buffer.from('{"a":"é"}\r\n\n{"b":1}')
      const made = yield* json(yield* upload(service, inferenceKey, sent, "../n\u200bé:w.jsonl"))
      assert.notProperty(made, "error", JSON.stringify(made))
      assert.deepInclude(made, { bytes: sent.length, filename: ".._n_é:w.jsonl" })
      const response = yield* get(`${service.api}/files/${made.id}/content`, inferenceKey)
      assert.strictEqual(response.headers.get("content-length"), String(sent.length))
      assert.deepStrictEqual(Buffer.from(yield* Effect.promise(() => response.bytes())), sent)
      const wrong = yield* get(`${service.api}/files?after=x`, inferenceKey)
      assert.deepStrictEqual([wrong.status, (yield* json(wrong)).error.param], [400, "after"])
    }).pipe(Effect.scoped)
  )

  it.live("reads a file only as fast as the client", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const file = yield* service.media.store({
        bytes: Buffer.alloc(32 * 1_048_576, "a"),
        contentType: "application/jsonl",
        accountId: account.id,
        purpose: "batch_output"
      })
      const before = process.memoryUsage().arrayBuffers
      const sockets = yield* Effect.forEach(Array.from({ length: 8 }), () => slowReader(service, file.id, inferenceKey))
      const held = process.memoryUsage().arrayBuffers - before
      assert.isBelow(held, 32 * 1_048_576, "all of them hold less than one file")
      assert.lengthOf(sockets, 8)
      const whole = yield* get(`${service.api}/files/${file.id}/content`, inferenceKey)
      assert.strictEqual((yield* Effect.promise(() => whole.bytes())).length, file.bytes)
    }).pipe(Effect.scoped)
  )

  it.live("returns 404 for a file whose bytes are lost", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const file = yield* service.media.store({
        bytes: Buffer.from("{}"),
        contentType: "application/jsonl",
        accountId: account.id,
        purpose: "batch_output"
      })
      rmSync(join(service.dataDirectory, "files", file.id))
      const response = yield* get(`${service.api}/files/${file.id}/content`, inferenceKey)
      assert.deepStrictEqual([response.status, (yield* json(response)).error.code], [404, "not_found"])
    }).pipe(Effect.scoped)
  )

  it.live("accepts uploads from accounts with money, up to their quota", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [poor, one] = [yield* service.account(0), yield* service.account(1)]
      const sent = Buffer.from("{}")
      const refused = yield* upload(service, poor.inferenceKey, sent, "a.jsonl")
      const { error, limit_source } = yield* json(refused)
      assert.deepStrictEqual([refused.status, error.code, limit_source], [402, "insufficient_credits", "balance"])
      const first = yield* json(yield* upload(service, one.inferenceKey, sent, "a.jsonl"))
      yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`UPDATE file SET bytes = ${BigInt(512 * 1_048_576 - 2)} WHERE id = ${first.id}`
      ).pipe(Effect.provide(layerUrl(service.databaseUrl, 1)))
      const last = yield* upload(service, one.inferenceKey, sent, "b.jsonl")
      assert.strictEqual(last.status, 200)
      const over = yield* upload(service, one.inferenceKey, sent, "c.jsonl")
      const body = yield* json(over)
      assert.deepStrictEqual([over.status, body.error.param], [400, "file"])
      assert.include(body.error.message, "536870912 bytes")
      const gone = yield* Effect.promise(() =>
        fetch(`${service.api}/files/${first.id}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${one.inferenceKey}` }
        })
      )
      assert.strictEqual(gone.status, 200)
      assert.strictEqual((yield* upload(service, one.inferenceKey, sent, "c.jsonl")).status, 200)
    }).pipe(Effect.scoped)
  )
})
