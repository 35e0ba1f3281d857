import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomInt } from "node:crypto"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit, type AuditPage, CurrentEntry } from "../../src/account/Audit.ts"
import type { AuditRow } from "../../src/account/AuditSql.ts"
import { newRequestId, newResourceId } from "../../src/platform/Ids.ts"
import { layer as database } from "../support/Database.ts"

const operator = { type: "operator", id: "test" } as const
const rooms = Accounts.layer.pipe(Layer.provideMerge(Audit.layer), Layer.provideMerge(database))

let count = 0
const newAccount = Effect.flatMap(Accounts, ({ create }) =>
  Effect.map(create(`audit-${count++}@example.com`, operator), ({ id }) => id)
)

const event = (accountId: string) => ({
  accountId,
  type: "key.revoked",
  actor: { type: "key", id: "a".repeat(24) } as const,
  resource: { type: "key", id: "b".repeat(24) }
})

const newest = (accountId: string) =>
  Effect.flatMap(Audit, (audit) => Effect.map(audit.list(accountId, 1), (rows) => rows[0]!))

const seed = Number(process.env["AUDIT_SEED"] ?? randomInt(2 ** 31))

/** Returns pseudo-random numbers from a seed. */
const numbers = (from: number) => {
  let state = from
  return (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const one = <A>(next: (below: number) => number, values: ReadonlyArray<A>): A => values[next(values.length)]!

const some = <A>(next: (below: number) => number, values: ReadonlyArray<A>): ReadonlyArray<A> | undefined => {
  const chosen = values.filter(() => next(3) === 0)
  return next(2) === 0 || chosen.length === 0 ? undefined : chosen
}

const names = (word: string) => Array.from({ length: 4 }, (_, index) => `${word}-${index}`)

const START_MS = 1_760_000_000_000

const idOf = (index: number) =>
  (START_MS + index * 500).toString(16).padStart(12, "0") + index.toString(16).padStart(12, "0")

/** Events at two per second, with types, actors and resources chosen by the seed. */
const lines = (next: (below: number) => number, length: number) =>
  Array.from({ length }, (_, index) => ({
    id: idOf(index),
    type: one(next, names("type")),
    actor: one(next, names("actor")),
    resource: one(next, names("resource")),
    awaited: next(2) === 0,
    ended: next(4) > 0
  }))

const write = (accountId: string, made: ReturnType<typeof lines>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const all = JSON.stringify(made)
    yield* sql`INSERT INTO audit_event (id, account_id, type, actor_type, actor_id, resource_type, resource_id, awaited, changes)
      SELECT id, ${accountId}, type, 'key', actor, 'key', resource, awaited, '{}'
      FROM jsonb_to_recordset(${all}::jsonb) AS l (id text, type text, actor text, resource text, awaited boolean)`
    yield* sql`INSERT INTO audit_completion (event_id, outcome, changes)
      SELECT id, 'succeeded', '{"a": 1}' FROM jsonb_to_recordset(${all}::jsonb) AS l (id text, awaited boolean, ended boolean)
      WHERE awaited AND ended`
  })

const expected = (made: ReturnType<typeof lines>, page: AuditPage) =>
  made
    .filter(
      (line, index) =>
        (page.types ?? [line.type]).includes(line.type) &&
        (page.actors ?? [line.actor]).includes(line.actor) &&
        (page.resources ?? [line.resource]).includes(line.resource) &&
        START_MS + index * 500 >= (page.fromMs ?? 0) &&
        START_MS + index * 500 < (page.untilMs ?? Infinity)
    )
    .map(({ id }) => id)
    .toReversed()

/** Reads all pages of this size, one after another. */
const walk = (accountId: string, page: AuditPage) =>
  Effect.gen(function* () {
    const audit = yield* Audit
    const found: Array<AuditRow> = []
    let cursor: string | null | undefined
    while (cursor !== null) {
      const { next, rows } = yield* audit.page(accountId, { ...page, cursor })
      assert.isAtMost(rows.length, page.limit)
      if (next !== null) assert.strictEqual(next, rows.at(-1)?.id)
      found.push(...rows)
      cursor = next
    }
    return found
  })

describe("the audit log", () => {
  layer(rooms, { excludeTestServices: true })((it) => {
    it.effect("records an action before it runs, and then its outcome", () =>
      Effect.gen(function* () {
        const audit = yield* Audit
        const accountId = yield* newAccount
        const requestId = newRequestId()
        const entry = yield* audit.open({ ...event(accountId), requestId })
        const opened = yield* newest(accountId)
        assert.deepInclude(opened, {
          id: entry.id,
          request_id: requestId,
          status: "pending",
          outcome: null,
          code: null
        })
        assert.deepStrictEqual(opened.changes, {})
        const change = audit.append({ ...event(accountId), changes: { reason: "lost" } })
        yield* Effect.provideService(change, CurrentEntry, entry)
        assert.deepStrictEqual(yield* newest(accountId), opened, "kept for the completion")
        yield* audit.complete(entry, undefined)
        assert.deepStrictEqual(yield* newest(accountId), {
          ...opened,
          status: "completed",
          outcome: "succeeded",
          changes: { reason: "lost" }
        })
        assert.deepStrictEqual(yield* audit.pending(-60_000, accountId), { total: 0, rows: [] })
      })
    )

    it.effect("records the error code of a failed action and no changes", () =>
      Effect.gen(function* () {
        const audit = yield* Audit
        const accountId = yield* newAccount
        const entry = yield* audit.open({ ...event(accountId), requestId: newRequestId() })
        entry.changes = { reason: "lost" }
        yield* audit.complete(entry, "not_found")
        const { changes, code, outcome, status } = yield* newest(accountId)
        assert.deepStrictEqual([status, outcome, code, changes], ["completed", "failed", "not_found", {}])
      })
    )

    it.effect("has separate entries for other actions of the same request", () =>
      Effect.gen(function* () {
        const audit = yield* Audit
        const accountId = yield* newAccount
        const requestId = newRequestId()
        const entry = yield* audit.open({ ...event(accountId), type: "project.archived", requestId })
        const also = audit.append({ ...event(accountId), changes: {} })
        yield* Effect.provideService(also, CurrentEntry, entry)
        const line = yield* newest(accountId)
        assert.deepInclude(line, {
          type: "key.revoked",
          status: "completed",
          outcome: "succeeded",
          request_id: requestId
        })
      })
    )

    it.effect("rejects changes to its entries, even from a writer of its table", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const audit = yield* Audit
        const accountId = yield* newAccount
        const entry = yield* audit.open({ ...event(accountId), requestId: newRequestId() })
        yield* audit.complete(entry, undefined)
        const before = yield* newest(accountId)
        for (const statement of [
          sql`UPDATE audit_event SET type = 'nothing'`,
          sql`UPDATE audit_event SET changes = '{}' WHERE false`,
          sql`DELETE FROM audit_event`,
          sql`TRUNCATE audit_event CASCADE`,
          sql`UPDATE audit_completion SET outcome = 'succeeded', code = NULL`,
          sql`DELETE FROM audit_completion`,
          sql`TRUNCATE audit_completion`
        ]) {
          assert.isTrue(Exit.isFailure(yield* Effect.exit(statement)))
        }
        assert.isTrue(Exit.isFailure(yield* Effect.exit(audit.complete(entry, "not_found"))), "said once")
        assert.deepStrictEqual(yield* newest(accountId), before)
      })
    )

    it.effect("redacts secrets, and accepts every text that a client can send", () =>
      Effect.gen(function* () {
        const audit = yield* Audit
        const accountId = yield* newAccount
        const secret = `svc_sk_${"planted".repeat(6)}x`
        const changes = { name: `a ${secret}`, odd: "\0 and \ud800" }
        yield* audit.append({ ...event(accountId), changes })
        assert.deepStrictEqual((yield* newest(accountId)).changes, {
          name: "a svc_sk_[redacted]",
          odd: "\ufffd and \ufffd"
        })
        const entry = yield* audit.open({ ...event(accountId), requestId: newRequestId() })
        entry.changes = changes
        yield* audit.complete(entry, undefined)
        assert.notInclude(JSON.stringify(yield* audit.list(accountId, 100)), "planted")
      })
    )

    it.effect("lists the oldest pending entries, of one account or of all", () =>
      Effect.gen(function* () {
        const audit = yield* Audit
        const [mine, other] = [yield* newAccount, yield* newAccount]
        const opened = yield* Effect.forEach([mine, mine, other], (accountId) =>
          audit.open({ ...event(accountId), requestId: newRequestId() })
        )
        const [first, second, third] = opened
        assert.strictEqual((yield* audit.pending(60_000)).total, 0, "they have been pending for moments")
        const pending = yield* audit.pending(-60_000, mine)
        assert.strictEqual(pending.total, 2)
        assert.sameMembers(
          pending.rows.map(({ id }) => id),
          [first!.id, second!.id]
        )
        const entry = pending.rows.find(({ id }) => id === first!.id)
        assert.deepInclude(entry, { account_id: mine, type: "key.revoked", request_id: first!.requestId })
        yield* audit.complete(first!, undefined)
        const ofAll = (yield* audit.pending(-60_000)).rows.map(({ id }) => id)
        assert.sameMembers(
          ofAll.filter((id) => opened.some((entry) => entry.id === id)),
          [second!.id, third!.id]
        )
      })
    )
  })
})

describe("pages of the audit log", () => {
  layer(rooms, { excludeTestServices: true })((it) => {
    it.effect(`match a model under every filter (AUDIT_SEED=${seed})`, () =>
      Effect.gen(function* () {
        const next = numbers(seed)
        const [mine, other] = [yield* newAccount, yield* newAccount]
        const made = lines(next, 300)
        yield* write(mine, made)
        yield* write(
          other,
          made.map((line) => ({ ...line, id: `${line.id.slice(0, 12)}f${line.id.slice(13)}` }))
        )
        const least = START_MS
        for (let round = 0; round < 150; round++) {
          const page: AuditPage = {
            limit: 1 + next(100),
            types: some(next, [...names("type"), "absent"]),
            actors: some(next, names("actor")),
            resources: some(next, names("resource")),
            fromMs: next(2) === 0 ? undefined : least + next(200_000),
            // The account's own first entry is from now.
            untilMs: least + next(200_000)
          }
          const found = yield* walk(mine, page)
          assert.deepStrictEqual(
            found.map(({ id }) => id),
            expected(made, page),
            JSON.stringify(page)
          )
        }
        const all = yield* walk(mine, { limit: 100, untilMs: least + 200_000 })
        for (const [index, { changes, outcome, status }] of all.toReversed().entries()) {
          const { awaited, ended } = made[index]!
          const completed = !awaited || ended
          assert.deepStrictEqual([status, outcome], completed ? ["completed", "succeeded"] : ["pending", null])
          assert.deepStrictEqual(changes, awaited && ended ? { a: 1 } : {})
        }
      })
    )

    it.effect("begin after a cursor, and take their times from the IDs", () =>
      Effect.gen(function* () {
        const audit = yield* Audit
        const accountId = yield* newAccount
        const before = Date.now()
        yield* audit.append({ ...event(accountId), changes: {} })
        const line = yield* newest(accountId)
        assert.strictEqual(line.effective_at.getTime(), Number.parseInt(line.id.slice(0, 12), 16))
        assert.isAtLeast(line.effective_at.getTime(), before)
        const { next, rows } = yield* audit.page(accountId, { limit: 10, cursor: line.id })
        assert.deepStrictEqual([rows.map(({ type }) => type), next], [["account.created"], null])
        assert.deepStrictEqual((yield* audit.page(accountId, { limit: 10, cursor: newResourceId() })).rows.length, 2)
        const nothing = { rows: [], next: null }
        assert.deepStrictEqual(yield* audit.page(accountId, { limit: 10, types: [] }), nothing)
      })
    )

    it.effect("are found by the index of their filters, even when few entries match both of two common values", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const audit = yield* Audit
        const accountId = yield* newAccount
        const types = ["a", "b"] as const
        const made = Array.from({ length: 20_000 }, (_, index) => ({
          id: idOf(1_000_000 + index),
          type: types[index % 2]!,
          // No actor did both.
          actor: `by-${types[index % 2]!}`,
          resource: "r",
          awaited: false,
          ended: false
        }))
        yield* write(accountId, made)
        yield* sql`ANALYZE audit_event`
        const touched = (page: AuditPage) =>
          Effect.gen(function* () {
            const read = sql<{ n: bigint }>`SELECT pg_stat_get_xact_tuples_fetched('audit_event'::regclass)
              + pg_stat_get_xact_tuples_returned('audit_event'::regclass) AS n`
            const [before] = yield* read
            yield* audit.page(accountId, page)
            const [after] = yield* read
            return Number(after!.n - before!.n)
          }).pipe(sql.withTransaction)
        const many = { limit: 10, resources: ["r"] }
        assert.isAtMost(yield* touched({ ...many, types: ["a"], actors: ["by-b"] }), 100)
        assert.isAtMost(yield* touched({ limit: 10, types: ["a"], actors: ["by-b"] }), 100)
        assert.isAtMost(yield* touched({ limit: 10, types: ["a", "none", "b"] }), 100)
        assert.isAtMost(yield* touched({ limit: 10 }), 100)
        assert.isAtMost(yield* touched({ limit: 10, cursor: idOf(1_000_000) }), 100)
      })
    )
  })
})
