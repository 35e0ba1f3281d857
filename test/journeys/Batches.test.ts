/** Background batches through OpenAI's client. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import OpenAI, { toFile } from "openai"
import { BatchObject } from "../../schemas/inference/Batches.ts"
import { FileObject } from "../../schemas/inference/Files.ts"
import { nano } from "../support/Amounts.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const clientOf = (service: Service, apiKey: string) => new OpenAI({ baseURL: service.api, apiKey, maxRetries: 0 })

const decodeBatch = Schema.decodeUnknownSync(BatchObject, { onExcessProperty: "error" })
const decodeFile = Schema.decodeUnknownSync(FileObject, { onExcessProperty: "error" })

const chat = (customId: string, body: object = {}) => ({
  custom_id: customId,
  method: "POST",
  url: "/v1/chat/completions",
  body: { model: "gpt-4o-mini", messages: [{ role: "user", content: `Say ${customId}` }], ...body }
})

const upload = (client: OpenAI, lines: ReadonlyArray<object | string>) =>
  Effect.promise(async () => {
    const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")
    return client.files.create({ file: await toFile(Buffer.from(text), "input.jsonl"), purpose: "batch" })
  })

const begin = (
  client: OpenAI,
  lines: ReadonlyArray<object | string>,
  endpoint: OpenAI.BatchCreateParams["endpoint"] = "/v1/chat/completions"
) =>
  Effect.gen(function* () {
    const { id } = yield* upload(client, lines)
    return yield* Effect.promise(() =>
      client.batches.create({ input_file_id: id, endpoint, completion_window: "24h", metadata: { of: "test" } })
    )
  })

const ENDED = new Set(["completed", "failed", "expired", "cancelled"])

/** Polls a batch until it has ended, for 60 seconds at most. */
const ended = (client: OpenAI, id: string) =>
  Effect.gen(function* () {
    for (let tries = 0; tries < 300; tries++) {
      const batch = yield* Effect.promise(() => client.batches.retrieve(id))
      decodeBatch(batch)
      if (ENDED.has(batch.status)) return batch
      yield* Effect.sleep("200 millis")
    }
    return assert.fail("the batch must end within 60 seconds")
  })

// oxlint-disable-next-line typescript/no-explicit-any
const linesOf = (client: OpenAI, id: string | null | undefined): Effect.Effect<ReadonlyArray<any>> =>
  id == null
    ? Effect.succeed([])
    : Effect.promise(async () => {
        const text = await (await client.files.content(id)).text()
        assert.isTrue(text.endsWith("\n"))
        return text
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line))
      })

describe("a batch in the background", () => {
  it.live("writes the answers of the served lines into the output file, and the failures into the error file", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(100)
      const client = clientOf(service, inferenceKey)
      const good = Array.from({ length: 30 }, (_, at) => chat(`line ${at}`))
      const lines = [
        ...good,
        chat("wrong", { temperature: 9 }),
        chat("unknown", { model: "nobody/none" }),
        chat("secret", { routing: { data_policy: "zero_retention" } }),
        chat("streamed", { stream: true }),
        { ...chat("more"), more: 1 }
      ]
      const begun = yield* begin(client, lines)
      assert.deepInclude(decodeBatch(begun), { object: "batch", status: "validating", metadata: { of: "test" } })
      const batch = yield* ended(client, begun.id)
      assert.strictEqual(batch.status, "completed")
      assert.deepStrictEqual(batch.request_counts, { total: 35, completed: 30, failed: 5 })
      const output = yield* linesOf(client, batch.output_file_id)
      assert.deepStrictEqual(
        output.map(({ custom_id }) => custom_id),
        good.map(({ custom_id }) => custom_id)
      )
      let cost = 0n
      for (const { error, response } of output) {
        assert.isNull(error)
        assert.strictEqual(response.status_code, 200)
        assert.strictEqual(response.body.object, "chat.completion")
        cost += nano(response.body.cost_usd)
      }
      const { held, posted } = yield* service.balance(account.id)
      assert.deepStrictEqual([held, 100_000_000_000n - posted], [0n, cost])
      const failed = yield* linesOf(client, batch.error_file_id)
      assert.deepStrictEqual(
        failed.map(({ custom_id, response }) => [
          custom_id,
          response.status_code,
          response.body.error.code,
          response.body.error.param
        ]),
        [
          ["wrong", 400, "validation_error", "temperature"],
          ["unknown", 400, "unknown_model", "model"],
          ["secret", 400, "unsupported_parameter", "routing.data_policy"],
          ["streamed", 400, "validation_error", "stream"],
          ["more", 400, "validation_error", "more"]
        ]
      )
      const receipt = yield* receiptOf(service, inferenceKey, output[3].response.request_id)
      assert.deepInclude(receipt, { operation: "chat.completions", idempotency_key: `batch:${batch.id}:3` })
      assert.deepStrictEqual(yield* service.faults, [])

      const files = yield* Effect.promise(() => client.files.list())
      assert.deepStrictEqual(
        files.data.map(({ purpose }) => purpose),
        ["batch_output", "batch_output", "batch"]
      )
      files.data.forEach((file) => decodeFile(file))
      const inputs = yield* Effect.promise(() => client.files.list({ purpose: "batch", limit: 1 }))
      assert.deepStrictEqual(
        inputs.data.map(({ filename, id }) => [filename, id]),
        [["input.jsonl", batch.input_file_id]]
      )
      const mine = yield* Effect.promise(() => client.files.retrieve(batch.input_file_id))
      assert.strictEqual(mine.filename, "input.jsonl")
      assert.isTrue((yield* Effect.promise(() => client.files.delete(mine.id))).deleted)
      const gone = yield* get(`${service.api}/files/${mine.id}`, inferenceKey)
      assert.deepStrictEqual([gone.status, (yield* json(gone)).error.code], [404, "not_found"])
      const listed = yield* Effect.promise(() => client.batches.list())
      assert.deepStrictEqual(
        listed.data.map(({ id }) => id),
        [batch.id]
      )
    }).pipe(Effect.scoped)
  )

  it.live("runs embeddings, responses and messages, and reports their failures", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(100)
      const client = clientOf(service, inferenceKey)
      const bodies = {
        "/v1/embeddings": { model: "text-embedding-3-small", input: "tea", dimensions: 4 },
        "/v1/responses": { model: "gpt-4o-mini", input: "tea" },
        "/v1/messages": { model: "claude-sonnet-4-5", max_tokens: 20, messages: [{ role: "user", content: "tea" }] }
      }
      const kinds: Array<unknown> = []
      for (const [url, body] of Object.entries(bodies)) {
        const line = { custom_id: "a", method: "POST", url, body }
        const wrong = { ...line, custom_id: "b", body: { ...body, model: "nobody/none" } }
        const begun = yield* begin(client, [line, "", wrong], url as OpenAI.BatchCreateParams["endpoint"])
        const batch = yield* ended(client, begun.id)
        assert.deepStrictEqual(batch.request_counts, { total: 2, completed: 1, failed: 1 })
        const [answer] = yield* linesOf(client, batch.output_file_id)
        const [refused] = yield* linesOf(client, batch.error_file_id)
        kinds.push([answer.response.body.object ?? answer.response.body.type, refused.response.body.type ?? null])
      }
      assert.deepStrictEqual(kinds, [
        ["list", null],
        ["response", null],
        ["message", "error"]
      ])
    }).pipe(Effect.scoped)
  )

  it.live("fails as a whole when its file is invalid, with the line and the field of each mistake", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const client = clientOf(service, inferenceKey)
      const begun = yield* begin(client, [
        chat("a"),
        "{",
        chat("a"),
        { ...chat("b"), method: "GET" },
        { ...chat("c"), url: "/v1/embeddings" },
        { ...chat("d"), body: 7 },
        { ...chat(""), custom_id: "" },
        { ...chat("e"), more: 1 }
      ])
      const batch = yield* ended(client, begun.id)
      assert.strictEqual(batch.status, "failed")
      assert.deepStrictEqual(
        batch.errors?.data?.map(({ code, line, param }) => [code, line, param]),
        [
          ["invalid_json_line", 2, null],
          ["duplicate_custom_id", 3, "custom_id"],
          ["invalid_method", 4, "method"],
          ["mismatched_url", 5, "url"],
          ["invalid_body", 6, "body"],
          ["invalid_custom_id", 7, "custom_id"]
        ]
      )
      assert.strictEqual((yield* service.balance(account.id)).posted, 1_000_000_000n)
    }).pipe(Effect.scoped)
  )

  it.live("and its file answer 404 to another account, and a batch cannot use another account's file", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [owner, other] = [yield* service.account(1), yield* service.account(1)]
      const begun = yield* begin(clientOf(service, owner.inferenceKey), [chat("a")])
      const file = begun.input_file_id
      const batch = yield* ended(clientOf(service, owner.inferenceKey), begun.id)
      const asOther = clientOf(service, other.inferenceKey)
      for (const path of [
        `/batches/${batch.id}`,
        `/files/${file}`,
        `/files/${file}/content`,
        "/batches/x",
        "/files/x%00"
      ]) {
        assert.strictEqual((yield* get(`${service.api}${path}`, other.inferenceKey)).status, 404, path)
      }
      const cancelling = yield* post(`${service.api}/batches/${batch.id}/cancel`, other.inferenceKey, {})
      assert.strictEqual(cancelling.status, 404)
      const deleting = yield* Effect.promise(() =>
        fetch(`${service.api}/files/${file}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${other.inferenceKey}` }
        })
      )
      assert.strictEqual(deleting.status, 404)
      const wrong = [
        [{ input_file_id: file, endpoint: "/v1/chat/completions", completion_window: "24h" }, "input_file_id"],
        [{ input_file_id: file, endpoint: "/v1/images", completion_window: "24h" }, "endpoint"],
        [{ input_file_id: file, endpoint: "/v1/embeddings", completion_window: "1h" }, "completion_window"],
        [{ input_file_id: file, endpoint: "/v1/embeddings", completion_window: "24h", more: 1 }, "more"]
      ] as const
      for (const [body, param] of wrong) {
        const response = yield* post(`${service.api}/batches`, other.inferenceKey, body)
        assert.deepStrictEqual([response.status, (yield* json(response)).error.param], [400, param])
      }
      assert.lengthOf((yield* Effect.promise(() => asOther.batches.list())).data, 0)
      assert.lengthOf((yield* Effect.promise(() => asOther.files.list())).data, 0)
      const address = yield* Effect.promise(() => fetch(`${service.origin}/files/${file}`))
      assert.strictEqual(address.status, 404, "files of batches have no public URL")
    }).pipe(Effect.scoped)
  )

  it.live("gets its files from a multipart form only, within limits", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const send = (parts: Record<string, string | Blob>) =>
        Effect.promise(() => {
          const body = new FormData()
          for (const [name, value] of Object.entries(parts)) body.append(name, value)
          return fetch(`${service.api}/files`, {
            method: "POST",
            headers: { authorization: `Bearer ${inferenceKey}` },
            body
          })
        })
      const file = new Blob(["{}\n"], { type: "application/json" })
      const wrong = [
        [{ file }, "purpose"],
        [{ file, purpose: "assistants" }, "purpose"],
        [{ purpose: "batch" }, "file"],
        [{ purpose: "batch", file: "{}" }, "file"],
        [{ purpose: "batch", file, more: "1" }, "more"],
        [{ purpose: "batch", file: new Blob(["\n"]) }, "file"],
        [{ purpose: "batch", file: new Blob([new Uint8Array([255, 254])]) }, "file"],
        [{ purpose: "batch", file: new Blob(["{}\n".repeat(50_001)]) }, "file"],
        [{ purpose: "batch", file, "expires_after[seconds]": "5" }, "expires_after[seconds]"]
      ] as const
      for (const [parts, param] of wrong) {
        const response = yield* send(parts as Record<string, string | Blob>)
        assert.deepStrictEqual([response.status, (yield* json(response)).error.param], [400, param], param)
      }
      const kept = yield* send({
        purpose: "batch",
        "expires_after[anchor]": "created_at",
        "expires_after[seconds]": "3600",
        file
      })
      const { created_at, expires_at, status } = decodeFile(yield* json(kept))
      assert.deepStrictEqual([status, expires_at! - created_at], ["processed", 3_600])
      const large = yield* send({ purpose: "batch", file: new Blob([new Uint8Array(32 * 1_048_576)]) })
      assert.deepStrictEqual([large.status, (yield* json(large)).error.code], [413, "request_too_large"])
      const plain = yield* post(`${service.api}/files`, inferenceKey, { purpose: "batch" })
      assert.deepStrictEqual(
        [plain.status, (yield* json(plain)).error.message],
        [415, "Send the body as multipart/form-data."]
      )
    }).pipe(Effect.scoped)
  )

  it.live("has its files listed in pages, in either order", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      const client = clientOf(service, inferenceKey)
      const ids: Array<string> = []
      for (let at = 0; at < 5; at++) ids.push((yield* upload(client, [chat(`${at}`)])).id)
      const sorted = ids.toSorted()
      const listed = (query: OpenAI.FileListParams) =>
        Effect.promise(async () => {
          const found: Array<string> = []
          for await (const { id } of client.files.list({ purpose: "batch", limit: 2, ...query })) found.push(id)
          return found
        })
      assert.deepStrictEqual(yield* listed({ order: "asc" }), sorted)
      assert.deepStrictEqual(yield* listed({ order: "desc" }), sorted.toReversed())
      assert.deepStrictEqual(yield* listed({}), sorted.toReversed())
      assert.deepStrictEqual(yield* listed({ order: "asc", after: sorted[2]! }), sorted.slice(3))
      assert.deepStrictEqual(yield* listed({ order: "desc", after: sorted[2]! }), sorted.slice(0, 2).toReversed())
      assert.deepStrictEqual(yield* listed({ order: "asc", after: sorted[4]! }), [])
      assert.deepStrictEqual(yield* listed({ purpose: "batch_output" }), [])
      const wrong = yield* get(`${service.api}/files?order=newest`, inferenceKey)
      assert.deepStrictEqual([wrong.status, (yield* json(wrong)).error.param], [400, "order"])
    }).pipe(Effect.scoped)
  )

  it.live("starts no further line after it is cancelled, and keeps the served answers", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(100)
      const client = clientOf(service, inferenceKey)
      const begun = yield* begin(
        client,
        Array.from({ length: 2_000 }, (_, at) => chat(`line ${at}`))
      )
      for (let done = 0; done < 5;) {
        done = (yield* Effect.promise(() => client.batches.retrieve(begun.id))).request_counts!.completed
      }
      const cancelled = yield* Effect.promise(() => client.batches.cancel(begun.id))
      assert.include(["cancelling", "cancelled"], cancelled.status)
      const batch = yield* ended(client, begun.id)
      assert.strictEqual(batch.status, "cancelled")
      const output = yield* linesOf(client, batch.output_file_id)
      assert.strictEqual(output.length, batch.request_counts!.completed)
      assert.isBelow(output.length, 2_000)
      const cost = output.reduce((all: bigint, { response }) => all + nano(response.body.cost_usd), 0n)
      const { held, posted } = yield* service.balance(account.id)
      assert.deepStrictEqual([held, 100_000_000_000n - posted], [0n, cost])
      const again = yield* Effect.promise(() => client.batches.cancel(begun.id))
      assert.strictEqual(again.status, "cancelled")
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("reports a line that the balance cannot cover, and serves the others", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(0.02)
      const client = clientOf(service, inferenceKey)
      const dear = chat("dear", { model: "claude-sonnet-4-5", max_tokens: 60_000 })
      const begun = yield* begin(client, [dear, chat("cheap", { max_tokens: 50 })])
      const batch = yield* ended(client, begun.id)
      assert.deepStrictEqual(batch.request_counts, { total: 2, completed: 1, failed: 1 })
      const [refused] = yield* linesOf(client, batch.error_file_id)
      assert.deepStrictEqual([refused.custom_id, refused.response.status_code], ["dear", 402])
      assert.strictEqual(refused.response.body.limit_source, "balance")
    }).pipe(Effect.scoped)
  )
})
