/** How batches end when they are not served in full; journeys test batches that are. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { BudgetPeriod } from "../../src/ledger/Operation.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { until } from "../support/Until.ts"
import { layerUrl } from "../support/Database.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

const line = (at: number) => ({
  custom_id: `line ${at}`,
  method: "POST",
  url: "/v1/chat/completions",
  body: { model: "gpt-4o-mini", max_tokens: 20, messages: [{ role: "user", content: `Say ${at}` }] }
})

/** An account with ten cents, and its key, which has no budget. */
const accountOf = (service: Service) =>
  Effect.gen(function* () {
    const { account, inferenceKey } = yield* service.account(0.1)
    const [row] = yield* inDatabase(
      service,
      (sql) => sql<{ id: string }>`SELECT id FROM api_key WHERE account_id = ${account.id} AND kind = 'inference'`
    )
    const budgets: ReadonlyArray<BudgetPeriod> = []
    return { account, inferenceKey, keyId: row!.id, budgets, budgetsEpoch: 0 }
  })

/** An account with ten dollars, and a key with a budget of ten cents. */
const budgetedOf: typeof accountOf = (service) =>
  Effect.gen(function* () {
    const { account, managementKey } = yield* service.account(10)
    const body = { name: "ten cents", budget_cents: 10, budget_period: "lifetime" }
    const { data, key } = yield* Effect.flatMap(post(`${service.api}/management/keys`, managementKey, body), json)
    const [row] = yield* inDatabase(
      service,
      (sql) =>
        sql<{
          budget_id: string
          epoch: number
        }>`SELECT budget_id, budgets_epoch AS epoch FROM api_key WHERE id = ${data.id}`
    )
    const budgets = [{ budgetId: row!.budget_id, periodStart: "1970-01-01" }]
    return { account, inferenceKey: String(key), keyId: String(data.id), budgets, budgetsEpoch: row!.epoch }
  })

const upload = (service: Service, key: string, lines: ReadonlyArray<object>) =>
  Effect.promise(async () => {
    const body = new FormData()
    body.append("purpose", "batch")
    const text = lines.map((one) => JSON.stringify(one)).join("\n")
    body.append("file", new Blob([text]), "in.jsonl")
    const headers = { authorization: `Bearer ${key}` }
    const { id } = await (await fetch(`${service.api}/files`, { method: "POST", headers, body })).json()
    return String(id)
  })

const many = (count: number) => Array.from({ length: count }, (_, at) => line(at))

const begin = (service: Service, key: string, lines: ReadonlyArray<object>) =>
  Effect.gen(function* () {
    const input_file_id = yield* upload(service, key, lines)
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

/** A batch whose line 0 waits for money that another request holds, and whose lines 1 and 2 are served. */
const waiting = (service: Service, callerOf = accountOf) =>
  Effect.gen(function* () {
    const { account, budgets, budgetsEpoch, inferenceKey, keyId } = yield* callerOf(service)
    const requestId = newRequestId()
    yield* service.ledger.commit({
      _tag: "Hold",
      requestId,
      accountId: account.id,
      keyId,
      projectId: null,
      operation: "test",
      model: "test",
      atLeast: 95_000_000n,
      upTo: 95_000_000n,
      ttlMs: 120_000,
      budgets,
      budgetsEpoch,
      opened: { prices: [] },
      claim: undefined,
      charge: false
    })
    // At $15 per million tokens, 6,000 tokens may cost nine cents; a few millionths of a dollar are enough for the others.
    const dear = { ...line(0), body: { ...line(0).body, model: "claude-sonnet-4-5", max_tokens: 6_000 } }
    const { id, input_file_id } = yield* begin(service, inferenceKey, [dear, line(1), line(2)])
    yield* until(
      "the others are served",
      Effect.map(batchOf(service, inferenceKey, id), ({ request_counts }) => request_counts.completed === 2)
    )
    return { account, inferenceKey, keyId, requestId, batchId: String(id), inputFileId: String(input_file_id) }
  })

/** Leaves a batch as if its process had died between the settlement of line 1 and recording it, and runs `meanwhile`. */
const forgetting = <E>(
  service: Service,
  batchId: string,
  meanwhile: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, E>
) =>
  inDatabase(service, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`UPDATE batch SET completed = completed - 1 WHERE id = ${batchId}`
        yield* sql`DELETE FROM batch_item WHERE batch_id = ${batchId} AND index = 1`
        yield* meanwhile(sql)
      })
    )
  )

describe("a batch in the background", () => {
  it.live("expires at its deadline: served lines stay, and the rest is reported and free", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const { id } = yield* begin(service, inferenceKey, many(4_000))
      yield* until(
        "some lines are served",
        Effect.map(batchOf(service, inferenceKey, id), ({ request_counts }) => request_counts.completed > 10)
      )
      // Its step continues for its time slice; the status stops its lines, as a cancellation on another node would.
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

  it.live("begins no line after its deadline", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      yield* inDatabase(
        service,
        (sql) => sql`ALTER TABLE batch ADD CONSTRAINT late CHECK (status <> 'in_progress' OR expires_at <= now())`
      )
      const { id } = yield* begin(service, inferenceKey, many(3))
      yield* inDatabase(service, (sql) => sql`UPDATE batch SET expires_at = now() WHERE id = ${id}`)
      const batch = yield* ended(service, inferenceKey, id)
      assert.strictEqual(batch.status, "expired")
      assert.deepStrictEqual(batch.request_counts, { total: 3, completed: 0, failed: 3 })
      assert.isNull(batch.output_file_id)
      assert.strictEqual((yield* service.balance(account.id)).posted, 10_000_000_000n)
    }).pipe(Effect.scoped)
  )

  it.live("ends at its deadline when it cannot begin, and a day later when its files cannot be written", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      yield* inDatabase(service, (sql) =>
        Effect.all([
          sql`ALTER TABLE batch ADD CONSTRAINT short CHECK (total < 3)`,
          sql`ALTER TABLE file ADD CONSTRAINT full_up CHECK (purpose <> 'batch_output')`
        ])
      )
      const unread = yield* begin(service, inferenceKey, many(3))
      const unwritten = yield* begin(service, inferenceKey, many(2))
      yield* until(
        "all lines of the second are served",
        Effect.map(batchOf(service, inferenceKey, unwritten.id), ({ status }) => status === "finalizing")
      )
      yield* inDatabase(service, (sql) =>
        Effect.all([
          sql`UPDATE batch SET expires_at = now() WHERE id = ${unread.id}`,
          sql`UPDATE batch SET expires_at = now() - interval '25 hours' WHERE id = ${unwritten.id}`
        ])
      )
      const [first, second] = [
        yield* ended(service, inferenceKey, unread.id),
        yield* ended(service, inferenceKey, unwritten.id)
      ]
      assert.deepStrictEqual([first.status, first.errors.data[0].code], ["expired", "batch_expired"])
      assert.deepStrictEqual([second.status, second.errors.data[0].code], ["failed", "output_unavailable"])
      assert.lengthOf(yield* inDatabase(service, (sql) => sql`SELECT FROM batch_item`), 2)
    }).pipe(Effect.scoped)
  )

  it.live("leaves no unnamed file when the other file cannot be written at first", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      yield* inDatabase(
        service,
        (sql) => sql`ALTER TABLE file ADD CONSTRAINT no_errors CHECK (name NOT LIKE '%_error.jsonl')`
      )
      const wrong = { ...line(1), body: { ...line(1).body, max_tokens: -1 } }
      const { id } = yield* begin(service, inferenceKey, [line(0), wrong])
      const tries = inDatabase(
        service,
        (sql) => sql<{ attempts: number }>`SELECT attempts FROM job WHERE queue_name = 'batches' AND attempts > 1`
      )
      yield* until(
        "the gateway tried twice to write its files",
        Effect.map(tries, ({ length }) => length > 0)
      )
      yield* inDatabase(service, (sql) => sql`ALTER TABLE file DROP CONSTRAINT no_errors`)
      const { error_file_id, output_file_id } = yield* ended(service, inferenceKey, id)
      const listed = yield* Effect.flatMap(get(`${service.api}/files?purpose=batch_output`, inferenceKey), json)
      assert.deepStrictEqual(
        listed.data.map((file: { id: string }) => file.id).toSorted(),
        [error_file_id, output_file_id].toSorted()
      )
    }).pipe(Effect.scoped)
  )

  it.live("keeps its output as long as requested, and is returned again under its idempotency key", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const input_file_id = yield* upload(service, inferenceKey, many(1))
      const asked = { input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" }
      const send = (more: object) =>
        post(`${service.api}/batches`, inferenceKey, { ...asked, ...more }, { "idempotency-key": "one" })
      const kept = { output_expires_after: { anchor: "created_at", seconds: 3_600 } }
      const [first, again, other] = [yield* send(kept), yield* send(kept), yield* send({})]
      const { id } = yield* json(first)
      assert.deepStrictEqual([(yield* json(again)).id, again.headers.get("idempotency-replayed")], [id, "true"])
      assert.isNull(first.headers.get("idempotency-replayed"))
      assert.deepStrictEqual([other.status, (yield* json(other)).error.code], [422, "idempotency_key_reused"])
      const { output_file_id } = yield* ended(service, inferenceKey, id)
      const file = yield* Effect.flatMap(get(`${service.api}/files/${output_file_id}`, inferenceKey), json)
      assert.closeTo(file.expires_at - file.created_at, 3_600, 5)
    }).pipe(Effect.scoped)
  )

  for (const [held, callerOf] of [
    ["money", accountOf],
    ["a budget", budgetedOf]
  ] as const) {
    it.live(`makes lines wait for ${held} that another request holds, and serves the other lines`, () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { account, batchId: id, inferenceKey, requestId } = yield* waiting(service, callerOf)
        assert.deepInclude(yield* batchOf(service, inferenceKey, id), {
          status: "in_progress",
          request_counts: { total: 3, completed: 2, failed: 0 }
        })
        yield* service.ledger.commit({
          _tag: "Close",
          requestId,
          accountId: account.id,
          settle: undefined,
          onlyIfExpired: false,
          status: "cancelled",
          keepClaim: false,
          resolvedModel: null,
          provider: null,
          closed: {},
          answer: null
        })
        const batch = yield* ended(service, inferenceKey, id)
        assert.deepStrictEqual(batch.request_counts, { total: 3, completed: 3, failed: 0 })
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
    )
  }

  it.live("reports the remaining lines when its input is deleted", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const { id, input_file_id } = yield* begin(service, inferenceKey, many(3))
      yield* Effect.promise(() =>
        fetch(`${service.api}/files/${input_file_id}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${inferenceKey}` }
        })
      )
      const batch = yield* ended(service, inferenceKey, id)
      // Whether the batch had read its input before the deletion depends on timing.
      const told =
        batch.status === "failed"
          ? batch.errors.data[0].code
          : batch.request_counts.completed === 3
            ? "input_file_deleted"
            : (yield* errorsOf(service, inferenceKey, batch.error_file_id))[0].error.code
      assert.strictEqual(told, "input_file_deleted")
    }).pipe(Effect.scoped)
  )

  it.live("returns the answer of a charged line whose key was revoked before the batch recorded it", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { batchId, keyId } = yield* waiting(service)
      yield* forgetting(service, batchId, (sql) => sql`UPDATE api_key SET revoked_at = now() WHERE id = ${keyId}`)
      const counts = inDatabase(
        service,
        (sql) =>
          sql<{ completed: number; failed: number }>`SELECT completed, failed FROM batch
            WHERE id = ${batchId} AND completed_at IS NOT NULL`
      )
      yield* until(
        "the batch has ended",
        Effect.map(counts, (rows) => rows.length > 0)
      )
      assert.deepStrictEqual(yield* counts, [{ completed: 2, failed: 1 }])
    }).pipe(Effect.scoped)
  )

  it.live("reports that the answer of a charged line is lost with its input", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { batchId, inferenceKey, inputFileId } = yield* waiting(service)
      yield* forgetting(
        service,
        batchId,
        (sql) => sql`UPDATE file SET state = 'removing', state_at = now() WHERE id = ${inputFileId}`
      )
      const { error_file_id, request_counts } = yield* ended(service, inferenceKey, batchId)
      assert.deepStrictEqual(request_counts, { total: 3, completed: 1, failed: 2 })
      const [unserved, lost] = yield* errorsOf(service, inferenceKey, error_file_id)
      assert.deepStrictEqual([unserved.error.code, lost.error.code], ["input_file_deleted", "input_file_deleted"])
      assert.notInclude(unserved.error.message, "charged")
      assert.include(lost.error.message, "charged")
    }).pipe(Effect.scoped)
  )
})
