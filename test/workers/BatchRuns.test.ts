/** What becomes of batches other than by their being served; that is in test/journeys. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { until } from "../crash/Patience.ts"
import { layerUrl } from "../support/Database.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const line = (at: number) => ({
  custom_id: `line ${at}`,
  method: "POST",
  url: "/v1/chat/completions",
  body: { model: "gpt-4o-mini", max_tokens: 20, messages: [{ role: "user", content: `Say ${at}` }] }
})

const upload = (service: Service, key: string, count: number) =>
  Effect.promise(async () => {
    const body = new FormData()
    body.append("purpose", "batch")
    const text = Array.from({ length: count }, (_, at) => JSON.stringify(line(at))).join("\n")
    body.append("file", new Blob([text]), "in.jsonl")
    const headers = { authorization: `Bearer ${key}` }
    const { id } = await (await fetch(`${service.api}/files`, { method: "POST", headers, body })).json()
    return String(id)
  })

const begin = (service: Service, key: string, count: number) =>
  Effect.gen(function* () {
    const input_file_id = yield* upload(service, key, count)
    const asked = { input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" }
    return yield* Effect.flatMap(post(`${service.api}/batches`, key, asked), json)
  })

const batchOf = (service: Service, key: string, id: string) =>
  Effect.flatMap(get(`${service.api}/batches/${id}`, key), json)

const ended = (service: Service, key: string, id: string) =>
  Effect.andThen(
    until(
      "the batch has ended",
      Effect.map(batchOf(service, key, id), ({ status }) =>
        ["completed", "expired", "failed", "cancelled"].includes(status)
      )
    ),
    batchOf(service, key, id)
  )

const errorsOf = (service: Service, key: string, id: string) =>
  Effect.flatMap(get(`${service.api}/files/${id}/content`, key), (response) =>
    Effect.promise(async () =>
      (await response.text())
        .trimEnd()
        .split("\n")
        .map((one) => JSON.parse(one))
    )
  )

const inDatabase = <A, E>(service: Service, run: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.flatMap(SqlClient.SqlClient, run).pipe(Effect.provide(layerUrl(service.databaseUrl, 1)))

describe("a batch in the background", () => {
  it.live("expires at the end of its time: what was served stays, the rest is told of and costs nothing", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const { id } = yield* begin(service, inferenceKey, 4_000)
      yield* until(
        "some lines are served",
        Effect.map(batchOf(service, inferenceKey, id), ({ request_counts }) => request_counts.completed > 10)
      )
      // Its step goes on for its slice; cutting the batch off from its lines ends that, as another node's cancelling would.
      yield* inDatabase(
        service,
        (sql) => sql`UPDATE batch SET expires_at = now(), status = 'finalizing' WHERE id = ${id}`
      )
      const batch = yield* ended(service, inferenceKey, id)
      assert.strictEqual(batch.status, "expired")
      const { completed, failed, total } = batch.request_counts
      assert.deepStrictEqual([completed + failed, total], [total, 4_000])
      const errors = yield* errorsOf(service, inferenceKey, batch.error_file_id)
      assert.lengthOf(errors, failed)
      assert.deepInclude(errors.at(-1), { custom_id: "line 3999", response: null })
      assert.strictEqual(errors.at(-1).error.code, "batch_expired")
      assert.strictEqual((yield* service.balance(account.id)).held, 0n)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("that is late begins no line at all", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      yield* inDatabase(
        service,
        (sql) => sql`ALTER TABLE batch ADD CONSTRAINT late CHECK (status <> 'in_progress' OR expires_at <= now())`
      )
      const { id } = yield* begin(service, inferenceKey, 3)
      yield* inDatabase(service, (sql) => sql`UPDATE batch SET expires_at = now() WHERE id = ${id}`)
      const batch = yield* ended(service, inferenceKey, id)
      assert.strictEqual(batch.status, "expired")
      assert.deepStrictEqual(batch.request_counts, { total: 3, completed: 0, failed: 3 })
      assert.isNull(batch.output_file_id)
      assert.strictEqual((yield* service.balance(account.id)).posted, 10_000_000_000n)
    }).pipe(Effect.scoped)
  )

  it.live("whose input is deleted tells so of what is left", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const { id, input_file_id } = yield* begin(service, inferenceKey, 3)
      yield* Effect.promise(() =>
        fetch(`${service.api}/files/${input_file_id}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${inferenceKey}` }
        })
      )
      const batch = yield* ended(service, inferenceKey, id)
      // It depends on who was quicker whether any of it was read.
      const told =
        batch.status === "failed"
          ? batch.errors.data[0].code
          : batch.request_counts.completed === 3
            ? "input_file_deleted"
            : (yield* errorsOf(service, inferenceKey, batch.error_file_id))[0].error.code
      assert.strictEqual(told, "input_file_deleted")
    }).pipe(Effect.scoped)
  )
})
