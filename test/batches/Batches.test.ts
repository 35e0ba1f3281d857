import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Principal } from "../../schemas/Access.ts"
import { Batches, noBatch } from "../../src/batches/Batches.ts"
import {
  abandonBatch,
  endBatch,
  endedAfter,
  endLine,
  failBatch,
  finalizeBatch,
  startBatch
} from "../../src/batches/BatchesSql.ts"
import { Jobs } from "../../src/jobs/Jobs.ts"
import type { Claim } from "../../src/ledger/Operation.ts"
import type { FilePurpose } from "../../src/platform/files/MediaSql.ts"
import { Media } from "../../src/platform/files/Media.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { customer } from "../ledger/Fixture.ts"
import { layer as database } from "../support/Database.ts"

/** Existing files by id, with their account and purpose. */
type Files = Map<string, { readonly accountId: string; readonly purpose: FilePurpose }>

const scene = Effect.gen(function* () {
  const files: Files = new Map()
  const jobs: Array<string> = []
  const media = Layer.succeed(Media, {
    find: (accountId: string, id: string) =>
      Effect.sync(() => (files.get(id)?.accountId === accountId ? files.get(id) : undefined))
  } as unknown as Media["Service"])
  const queue = Layer.succeed(Jobs, {
    enqueue: (name, id) => Effect.sync(() => void jobs.push(`${name} ${id}`)),
    work: () => Effect.never
  })
  const context = yield* Layer.build(Batches.layer.pipe(Layer.provideMerge(Layer.mergeAll(media, queue, database))))
  return yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { accountId, keyId } = yield* customer(sql, 0n)
    const principal: Principal = {
      keyId,
      accountId,
      projectId: null,
      kind: "inference",
      scopes: [],
      limitScale: 1,
      budgets: [],
      budgetsEpoch: 0
    }
    files.set("input", { accountId, purpose: "batch_input" })
    files.set("output", { accountId, purpose: "batch_output" })
    files.set("foreign", { accountId: "other", purpose: "batch_input" })
    const batches = yield* Batches
    const asked = {
      principal,
      endpoint: "/v1/messages",
      metadata: { a: "b" },
      outputTtlSeconds: null,
      allowed: Effect.void
    }
    const create = (inputFileId = "input") =>
      Effect.map(batches.create({ ...asked, inputFileId, claim: undefined }), ({ row }) => row)
    const ask = (claim: Claim) => batches.create({ ...asked, inputFileId: "input", claim })
    return { sql, jobs, batches, create, ask, accountId }
  }).pipe(Effect.provide(context))
})

describe("batches", () => {
  it.live("start with a job, and only with an input file of the account", () =>
    Effect.gen(function* () {
      const { accountId, batches, create, jobs } = yield* scene
      const row = yield* create()
      assert.deepInclude(row, { status: "validating", endpoint: "/v1/messages", metadata: { a: "b" }, total: 0 })
      assert.strictEqual(row.expires_at.getTime() - row.created_at.getTime(), 24 * 3_600_000)
      assert.deepStrictEqual(jobs, [`batches ${row.id}`])
      for (const id of ["output", "foreign", "none"]) {
        assert.strictEqual((yield* Effect.flip(create(id)))._tag, "Failure", id)
      }
      assert.lengthOf(jobs, 1)
      assert.strictEqual((yield* batches.find(accountId, row.id))?.id, row.id)
      for (const [owner, id] of [
        [newResourceId(), row.id],
        [accountId, newResourceId()],
        [accountId, "\0"]
      ] as const) {
        assert.isUndefined(yield* batches.find(owner, id))
        assert.isUndefined(yield* batches.cancel(owner, id))
      }
      assert.strictEqual(noBatch("a").reason._tag, "NotFound")
    }).pipe(Effect.scoped)
  )

  it.live("are listed in pages, newest first", () =>
    Effect.gen(function* () {
      const { accountId, batches, create } = yield* scene
      const ids = yield* Effect.forEach([1, 2, 3], () => Effect.map(create(), ({ id }) => id))
      const sorted = ids.toSorted().toReversed()
      const first = yield* batches.list(accountId, { limit: 2, after: undefined })
      assert.deepStrictEqual([first.rows.map(({ id }) => id), first.more], [sorted.slice(0, 2), true])
      const second = yield* batches.list(accountId, { limit: 2, after: sorted[1] })
      assert.deepStrictEqual([second.rows.map(({ id }) => id), second.more], [sorted.slice(2), false])
    }).pipe(Effect.scoped)
  )

  it.live("count each line once, and count none while their files are written", () =>
    Effect.gen(function* () {
      const { accountId, batches, create, sql } = yield* scene
      const { id } = yield* create()
      yield* startBatch(sql, id, 3)
      const end = (index: number, ok: boolean) =>
        endLine(sql, { id, index, ok, line: "{}", instead: "[]", mostBytes: 100 })
      yield* Effect.forEach([0, 0, 1, 0], (index) => end(index, index === 0), { concurrency: 4 })
      assert.deepInclude(yield* batches.find(accountId, id), { completed: 1, failed: 1, output_bytes: 6n })
      yield* finalizeBatch(sql, id)
      assert.isUndefined(yield* end(2, true))
      const ending = { id, status: "expired", failed: 2, outputFileId: "a", errorFileId: "b" } as const
      assert.deepStrictEqual([yield* endBatch(sql, ending), yield* endBatch(sql, ending)], [true, false])
      const row = yield* batches.find(accountId, id)
      assert.deepInclude(row, { status: "expired", completed: 1, failed: 2, output_file_id: "a", error_file_id: "b" })
      assert.isNotNull(row?.expired_at)
      assert.isNull(row?.completed_at)
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM batch_item`, [])
    }).pipe(Effect.scoped)
  )

  it.live("replace a line that would make their files too large with an error", () =>
    Effect.gen(function* () {
      const { accountId, batches, create, sql } = yield* scene
      const { id } = yield* create()
      yield* startBatch(sql, id, 4)
      const end = (index: number, line: string) =>
        endLine(sql, { id, index, ok: true, line, instead: "-", mostBytes: 8 })
      // Four bytes and a line break; one more character of three bytes is too much.
      yield* Effect.forEach(["aaaa", "漢"], (line, index) => end(index, line))
      assert.deepInclude(yield* batches.find(accountId, id), { completed: 1, failed: 1, output_bytes: 7n })
      const read = (ok: boolean, bytes: number) =>
        Effect.map(endedAfter(sql, id, { ok, after: -1, limit: 10, bytes }), (pieces) =>
          pieces.map(({ index, piece }) => ({ index, line: Buffer.from(piece).toString() }))
        )
      assert.deepStrictEqual(yield* read(false, 9), [{ index: 1, line: "-" }])
      yield* end(2, "")
      assert.deepStrictEqual(yield* read(true, 4), [
        { index: 0, line: "aaaa" },
        { index: 2, line: "" }
      ])
      yield* sql`UPDATE batch_item SET line = 'b' WHERE index = 2`
      assert.deepStrictEqual(yield* read(true, 0), [{ index: 0, line: "aaaa" }])
      // Longer than what the database returns at once.
      yield* sql`UPDATE batch_item SET line = repeat('漢', 6000000) WHERE index = 0`
      const whole = yield* endedAfter(sql, id, { ok: true, after: -1, limit: 10, bytes: 0 })
      const line = Buffer.concat(whole.map(({ piece }) => piece)).toString()
      assert.isTrue(line === "漢".repeat(6_000_000))
    }).pipe(Effect.scoped)
  )

  it.live("fail with the faults of their input, and end when they cannot continue", () =>
    Effect.gen(function* () {
      const { accountId, batches, create, sql } = yield* scene
      const [first, second] = [yield* create(), yield* create()]
      const faults = [{ code: "a", message: "b", param: "\0\ud83d", line: 1 }]
      yield* failBatch(sql, first.id, JSON.stringify(faults))
      assert.deepInclude(yield* batches.find(accountId, first.id), {
        status: "failed",
        errors: [{ code: "a", message: "b", param: "\ufffd\ufffd", line: 1 }]
      })
      yield* abandonBatch(sql, second.id, "expired", "[]")
      const row = yield* batches.find(accountId, second.id)
      assert.deepInclude(row, { status: "expired", failed_at: null })
      assert.isNotNull(row?.expired_at)
    }).pipe(Effect.scoped)
  )

  it.live("are created once per claim, until a day after their end", () =>
    Effect.gen(function* () {
      const { ask, jobs, sql } = yield* scene
      const claim = { idempotencyKey: "k", claim: "POST /batches k", fingerprint: "f" }
      const made = yield* Effect.forEach([1, 2, 3], () => ask(claim), { concurrency: 3 })
      const [{ row }] = made as unknown as readonly [(typeof made)[number]]
      assert.deepStrictEqual(
        made.map((one) => one.row.id),
        [row.id, row.id, row.id]
      )
      assert.lengthOf(
        made.filter(({ replayed }) => replayed),
        2
      )
      assert.lengthOf(jobs, 1)
      const other = yield* Effect.flip(ask({ ...claim, fingerprint: "g" }))
      assert.strictEqual(other._tag === "Failure" && other.reason._tag, "IdempotencyKeyReused")
      yield* sql`UPDATE batch SET status = 'failed', failed_at = now() - interval '23 hours'`
      assert.isTrue((yield* ask(claim)).replayed)
      yield* sql`UPDATE batch SET failed_at = now() - interval '25 hours'`
      assert.isFalse((yield* ask(claim)).replayed)
    }).pipe(Effect.scoped)
  )

  it.live("are limited to twenty unfinished ones per account", () =>
    Effect.gen(function* () {
      const { create, sql } = yield* scene
      const [first] = yield* Effect.forEach(Array.from({ length: 20 }), () => create())
      const refused = yield* Effect.flip(create())
      assert.strictEqual(refused._tag === "Failure" && refused.reason._tag, "Conflict")
      yield* sql`UPDATE batch SET status = 'completed' WHERE id = ${first!.id}`
      yield* create()
    }).pipe(Effect.scoped)
  )

  it.live("are cancelled while they run, and unchanged once they have ended", () =>
    Effect.gen(function* () {
      const { accountId, batches, create, jobs, sql } = yield* scene
      const { id } = yield* create()
      yield* startBatch(sql, id, 1)
      assert.strictEqual((yield* batches.cancel(accountId, id))?.status, "cancelling")
      assert.lengthOf(jobs, 2)
      yield* endBatch(sql, { id, status: "cancelled", failed: 0, outputFileId: null, errorFileId: null })
      assert.strictEqual((yield* batches.cancel(accountId, id))?.status, "cancelled")
      assert.lengthOf(jobs, 2)
    }).pipe(Effect.scoped)
  )
})
