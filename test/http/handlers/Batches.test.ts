import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { batchObjectOf } from "../../../src/http/handlers/Batches.ts"
import type { BatchRow } from "../../../src/batches/BatchesSql.ts"
import { newRequestId } from "../../../src/platform/Ids.ts"
import { get, json, post, type Service, startService } from "../../support/Service.ts"

/** Settles a request of this account's that takes all it has. */
const spendAll = (service: Service, accountId: string) =>
  Effect.gen(function* () {
    const { ledger, sql } = service
    const { posted: cost } = yield* service.balance(accountId)
    const [key] = yield* sql<{
      id: string
    }>`SELECT id FROM api_key WHERE account_id = ${accountId} AND kind = 'inference'`
    const requestId = newRequestId()
    yield* ledger.commit({
      _tag: "Hold",
      requestId,
      accountId,
      keyId: key!.id,
      projectId: null,
      operation: "test",
      model: "test",
      atLeast: cost,
      upTo: cost,
      ttlMs: 60_000,
      budgets: [],
      budgetsEpoch: 0,
      opened: { prices: [] },
      claim: undefined,
      charge: false
    })
    yield* ledger.commit({
      _tag: "Close",
      requestId,
      accountId,
      settle: { cost },
      onlyIfExpired: false,
      status: "succeeded",
      keepClaim: false,
      resolvedModel: null,
      provider: null,
      closed: {},
      answer: null
    })
  })

const at = (seconds: number) => new Date(seconds * 1_000 + 999)

const row: BatchRow = {
  id: "a",
  account_id: "b",
  principal: {},
  endpoint: "/v1/messages",
  input_file_id: "c",
  metadata: null,
  status: "in_progress",
  errors: null,
  total: 3,
  completed: 1,
  failed: 1,
  output_bytes: 9n,
  output_file_id: null,
  error_file_id: null,
  created_at: at(1),
  expires_at: at(2),
  in_progress_at: at(3),
  finalizing_at: null,
  completed_at: null,
  failed_at: null,
  expired_at: null,
  cancelling_at: null,
  cancelled_at: null,
  overdue: false,
  forsaken: false,
  output_ttl_seconds: null,
  claim: null,
  fingerprint: null,
  worker: null
}

describe("/batches", () => {
  it("shows a batch with times in seconds and without its worker", () => {
    const shown = batchObjectOf(row)
    assert.deepInclude(shown, { created_at: 1, expires_at: 2, in_progress_at: 3, completed_at: null, errors: null })
    assert.deepStrictEqual(shown.request_counts, { total: 3, completed: 1, failed: 1 })
    assert.notProperty(shown, "principal")
    const fault = { code: "empty_file", message: "m", param: null, line: null }
    assert.deepStrictEqual(batchObjectOf({ ...row, errors: [fault] }).errors, { object: "list", data: [fault] })
  })

  it.live("rejects invalid page parameters", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      for (const [query, param] of [
        ["limit=0", "limit"],
        ["after=x", "after"],
        ["more=1", "more"]
      ]) {
        const response = yield* get(`${service.api}/batches?${query}`, inferenceKey)
        assert.deepStrictEqual([response.status, (yield* json(response)).error.param], [400, param])
      }
      const body = {
        input_file_id: "a",
        endpoint: "/v1/messages",
        completion_window: "24h",
        metadata: { a: "b".repeat(513) }
      }
      const response = yield* post(`${service.api}/batches`, inferenceKey, body)
      assert.deepStrictEqual((yield* json(response)).details, [
        { field: "metadata.a", message: "must have at most 512 characters; got 513" }
      ])
      const long = { ...body, metadata: { ["k".repeat(65)]: "b" } }
      const { details } = yield* json(yield* post(`${service.api}/batches`, inferenceKey, long))
      assert.deepStrictEqual(
        details.map(({ message }: { readonly message: string }) => message),
        ["must have keys of at most 64 characters"]
      )
      for (const output_expires_after of [{ anchor: "created_at", seconds: 3_599 }, { seconds: 3_600 }]) {
        const asked = { ...body, metadata: null, completion_window: "24h", output_expires_after }
        const wrong = yield* post(`${service.api}/batches`, inferenceKey, asked)
        assert.match((yield* json(wrong)).error.param, /^output_expires_after\./)
      }
    }).pipe(Effect.scoped)
  )

  it.live("returns 402 to an account without money", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(0)
      const { id } = yield* service.media.store({
        bytes: Buffer.from("{}"),
        contentType: "application/jsonl",
        accountId: account.id,
        purpose: "batch_input"
      })
      const body = { input_file_id: id, endpoint: "/v1/messages", completion_window: "24h" }
      const refused = yield* post(`${service.api}/batches`, inferenceKey, body)
      assert.deepStrictEqual([refused.status, (yield* json(refused)).error.code], [402, "insufficient_credits"])
      const listed = yield* get(`${service.api}/batches`, inferenceKey)
      assert.isEmpty((yield* json(listed)).data)
    }).pipe(Effect.scoped)
  )

  it.live("replays a batch under its idempotency key even after the account has spent its money", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(1)
      const { id: input_file_id } = yield* service.media.store({
        bytes: Buffer.from("{}"),
        contentType: "application/jsonl",
        accountId: account.id,
        purpose: "batch_input"
      })
      const body = { input_file_id, endpoint: "/v1/messages", completion_window: "24h" }
      const send = (key: string) => post(`${service.api}/batches`, inferenceKey, body, { "idempotency-key": key })
      const { id } = yield* Effect.flatMap(send("one"), json)
      yield* spendAll(service, account.id)
      const again = yield* send("one")
      assert.deepStrictEqual([again.status, (yield* json(again)).id], [200, id])
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      const other = yield* send("two")
      assert.deepStrictEqual([other.status, (yield* json(other)).error.code], [402, "insufficient_credits"])
    }).pipe(Effect.scoped)
  )
})
