/** Two gateways on one database, interrupted at exact moments. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { RequestList } from "../../schemas/account/Requests.ts"
import { countTokens } from "../../src/domain/Tokens.ts"
import { checkLoad } from "./CheckLoad.ts"
import type { Account, Cluster } from "./Cluster.ts"
import { answerOf } from "./EvidenceIndex.ts"
import { emptyLoad, type Load, sendNew } from "./Load.ts"
import { type Attempt, dialects, type Operation, type Outcome } from "./Evidence.ts"
import { until } from "../support/Until.ts"
import { TwoGateways } from "./TwoGateways.ts"
import { plainOperation, promptUsage } from "./Workload.ts"

const DOLLAR = 1_000_000_000n

const statusOf = (outcome: Outcome): string =>
  outcome._tag === "Answered" ? `${outcome.answer.status} ${outcome.answer.code ?? ""}`.trim() : outcome._tag

const words = ["one ", "two ", "three ", "four ", "five ", "six ", "seven ", "eight "]

/** Disconnects after this many frames, where the provider stalls; with 0, when the call has reached the provider. */
const cutAt = (
  cluster: Cluster,
  load: Load,
  account: Account,
  { after, dialect, stream }: Pick<Operation, "dialect" | "stream"> & { readonly after: number }
) =>
  Effect.gen(function* () {
    const stall = { _tag: "Stall", after } as const
    const operation = plainOperation(`cut-${dialect}-${stream ? "stream" : "whole"}-${after}`, account.name, {
      dialect,
      stream,
      chunks: words,
      cutAfter: after,
      behaviour: { alpha: stall, beta: stall }
    })
    const arrival = cluster.upstream.arrival(operation.id)
    const outcome = yield* sendNew(cluster, load, operation, { account, gateway: after % 2, beforeHead: arrival })
    // A gateway whose client has disconnected closes its connection to the provider.
    const call = yield* Effect.promise(() => arrival)
    yield* Effect.promise(() => call.closed)
    return { outcome, sent: call.record().sent }
  })

/** The number of connections that wait for a lock in a ledger statement. */
const waiting = (cluster: Cluster) =>
  Effect.flatMap(cluster.sql, (sql) =>
    Effect.map(
      sql<{ waiting: bigint }>`SELECT count(*) AS waiting FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE '%ledger_commit%'`,
      ([row]) => Number(row?.waiting ?? 0n)
    )
  ).pipe(Effect.scoped)

layer(TwoGateways.layer, { excludeTestServices: true, timeout: 60_000 })("two gateways on one database", (it) => {
  for (const dialect of dialects) {
    it.effect(`settle the delivered part when a client of ${dialect} disconnects, at every chunk`, () =>
      Effect.gen(function* () {
        const cluster = yield* TwoGateways
        const account = yield* cluster.open(`cut-${dialect}`, DOLLAR)
        const load = emptyLoad()
        const indices = Array.from({ length: words.length + 1 }, (_, after) => after)
        for (const after of indices) {
          const { outcome, sent } = yield* cutAt(cluster, load, account, { after, dialect, stream: true })
          assert.strictEqual(outcome._tag, "Cut")
          assert.strictEqual(sent, after)
        }
        yield* cutAt(cluster, load, account, { after: 0, dialect, stream: false })
        const { receipts, attempts } = yield* checkLoad(cluster, load, [account])
        const receiptOf = (one: Attempt | undefined) => receipts.find(({ traceId }) => traceId === one?.traceId)
        const charges = indices.map((index) => receiptOf(attempts[index])?.settled ?? -1n)
        assert.strictEqual(charges[0], 0n)
        assert.deepStrictEqual(
          charges,
          charges.toSorted((a, b) => Number(a - b))
        )
        assert.strictEqual(new Set(charges).size, charges.length)
        assert.deepStrictEqual([...new Set(receipts.map(({ status }) => status))], ["cancelled"])
        assert.strictEqual(receiptOf(attempts.at(-1))?.settled, 0n)
      })
    )
  }

  it.effect("charge a stream whose client disconnects at its last frame", () =>
    Effect.gen(function* () {
      const cluster = yield* TwoGateways
      const account = yield* cluster.open("last-frame", DOLLAR)
      const load = emptyLoad()
      for (const gateway of [0, 1]) {
        const operation = plainOperation(`last-${gateway}`, account.name, {
          stream: true,
          chunks: words,
          cutAfter: words.length
        })
        yield* sendNew(cluster, load, operation, { account, gateway })
      }
      const { receipts } = yield* checkLoad(cluster, load, [account])
      assert.strictEqual(receipts.length, 2)
      assert.isTrue(receipts.every((receipt) => receipt.settled > 0n))
    })
  )

  it.effect("serve exactly 37 of 200 concurrent requests with a balance for 37", () =>
    Effect.gen(function* () {
      const cluster = yield* TwoGateways
      const operations = Array.from({ length: 200 }, (_, number) => {
        const id = `of-200-${String(number).padStart(3, "0")}`
        // Each request uses its whole hold, so that nothing is released for a 38th.
        const usage = { prompt: promptUsage(id, false) + 32, completion: 50 }
        return plainOperation(id, "poor", { stream: number % 2 === 0, maxTokens: 50, reported: usage, atMost: usage })
      })
      const rich = yield* cluster.open("rich", DOLLAR)
      const load = emptyLoad()
      yield* sendNew(
        cluster,
        load,
        { ...operations[0]!, id: "of-200-999", account: "rich" },
        { account: rich, gateway: 0 }
      )
      const [price] = (yield* checkLoad(cluster, load, [rich])).receipts
      assert.isDefined(price)
      assert.strictEqual(price.settled, price.held)
      const poor = { ...(yield* cluster.open("poor", price.held * 37n)), name: "poor" }
      const rush = emptyLoad()
      const outcomes = yield* Effect.forEach(
        operations,
        (operation, index) => sendNew(cluster, rush, operation, { account: poor, gateway: index % 2 }),
        {
          concurrency: "unbounded"
        }
      )
      const statuses = outcomes.map(statusOf)
      assert.strictEqual(statuses.filter((status) => status === "200").length, 37)
      assert.strictEqual(statuses.filter((status) => status === "402 insufficient_credits").length, 163)
      const { accounts, calls } = yield* checkLoad(cluster, rush, [poor])
      const cost = price.held * 37n
      const budget = { spent: cost, limit: cost, notified: [80, 100] }
      assert.deepStrictEqual(
        accounts.map((one) => ({
          ...one,
          budget: { ...one.budget, notified: one.budget.notified.toSorted((a, b) => a - b) }
        })),
        [{ name: "poor", credited: cost, posted: 0n, held: 0n, open: 0, budget, usage: { requests: 37, cost } }]
      )
      assert.strictEqual(calls.length, 37)
    })
  )

  it.effect("both refuse requests that wait for the balance while their key is revoked", () =>
    Effect.gen(function* () {
      const cluster = yield* TwoGateways
      const account = yield* cluster.open("revoked", DOLLAR)
      const load = emptyLoad()
      // Both gateways cache the key, so that only the hold can notice the revocation.
      for (const gateway of [0, 1]) {
        const known = yield* sendNew(cluster, load, plainOperation(`known-${gateway}`, account.name), {
          account,
          gateway
        })
        assert.strictEqual(statusOf(known), "200")
      }
      const before = cluster.upstream.calls().length
      const waiters = Array.from({ length: 12 }, (_, number) =>
        plainOperation(`waits-${number}`, account.name, {
          stream: number % 3 === 0,
          idempotencyKey: number % 4 === 0 ? `key-waits-${number}` : undefined
        })
      )
      const outcomes = yield* Effect.scoped(
        Effect.gen(function* () {
          const sql = yield* cluster.sql
          const key = yield* sql<{ id: string }>`SELECT id FROM api_key
            WHERE account_id = ${account.id} AND kind = 'inference'`
          yield* sql`BEGIN`
          yield* sql`SELECT posted FROM balance WHERE account_id = ${account.id} FOR UPDATE`
          const asked = yield* Effect.forkChild(
            Effect.forEach(
              waiters,
              (operation, index) => sendNew(cluster, load, operation, { account, gateway: index % 2 }),
              {
                concurrency: "unbounded"
              }
            )
          )
          yield* until(
            "holds wait on both gateways",
            Effect.map(waiting(cluster), (count) => count >= 2)
          )
          assert.isTrue(yield* cluster.revoke(key[0]?.id ?? ""))
          assert.strictEqual(yield* waiting(cluster), 2)
          yield* sql`COMMIT`
          return yield* Fiber.join(asked)
        })
      )
      assert.deepStrictEqual([...new Set(outcomes.map(statusOf))], ["401 invalid_api_key"])
      assert.strictEqual(cluster.upstream.calls().length, before)
      const { held, open, posted } = yield* cluster.accountState(account)
      assert.deepStrictEqual([held, open], [0n, 0])
      assert.strictEqual(
        DOLLAR - posted,
        load.attempts.reduce((sum, one) => sum + (answerOf(one)?.cost ?? 0n), 0n)
      )
      assert.deepStrictEqual(yield* cluster.failedChecks, [])
    })
  )

  it.effect("show the last recorded progress on the receipt of a stream whose gateway was killed", () =>
    Effect.gen(function* () {
      const cluster = yield* TwoGateways
      const account = yield* cluster.open("killed", DOLLAR)
      const load = emptyLoad()
      const stall = { _tag: "Stall", after: 5 } as const
      const operation = plainOperation("killed-stream", account.name, {
        stream: true,
        chunks: words,
        behaviour: { alpha: stall, beta: stall }
      })
      const asked = yield* Effect.forkChild(sendNew(cluster, load, operation, { account, gateway: 1 }))
      yield* until(
        "the hold is extend",
        Effect.scoped(
          Effect.flatMap(cluster.sql, (sql) =>
            Effect.map(
              sql`SELECT FROM request WHERE account_id = ${account.id} AND state = 'open' AND progress > 0`,
              (rows) => rows.length > 0
            )
          )
        )
      )
      const [, gateway] = cluster.gateways
      yield* gateway!.kill
      yield* Fiber.join(asked)
      yield* gateway!.start
      yield* checkLoad(cluster, load, [account])
      const list = yield* Effect.promise(async () => {
        const url = `http://127.0.0.1:${cluster.gateways[0]!.port}/api/v1/requests`
        const response = await fetch(url, { headers: { authorization: `Bearer ${account.key}` } })
        return Schema.decodeUnknownSync(RequestList)(await response.json())
      })
      const receipt = list.data[0]!
      assert.deepInclude(receipt, {
        status: "failed",
        model: operation.model,
        resolved_model: operation.model,
        usage_basis: "counted",
        finish_reason: null
      })
      assert.strictEqual(receipt.error?.code, "request_expired")
      const { price, routing, usage } = receipt
      if (price?.unit !== "token" || usage === null || "units" in usage)
        return assert.fail("the receipt is not in tokens")
      const output = countTokens(words.slice(0, stall.after).join(""))
      assert.strictEqual(usage.output_tokens, output)
      assert.closeTo(receipt.cost_usd, usage.input_tokens * price.input + output * price.output, 1e-9)
      assert.isAbove(receipt.cost_usd, 0)
      assert.deepStrictEqual(
        [routing?.resolved_model, routing?.provider, routing?.provider_attempts?.map(({ outcome }) => outcome)],
        [operation.model, receipt.provider, ["served"]]
      )
      assert.isNumber(receipt.timings.first_token_ms)
    })
  )

  it.effect("answer 503 with Retry-After, never 401, while the database is down, and recover by themselves", () =>
    Effect.gen(function* () {
      const cluster = yield* TwoGateways
      const account = yield* cluster.open("outage", DOLLAR)
      const stranger = yield* cluster.open("stranger", DOLLAR)
      const load = emptyLoad()
      let number = 0
      const sendPlain = (account: Account, gateway: number) =>
        Effect.suspend(() => {
          const operation = plainOperation(`outage-${number++}`, account.name)
          return sendNew(cluster, load, operation, { account, gateway })
        })
      const read = (account: Account, gateway: number) =>
        Effect.promise(async () => {
          const url = `http://127.0.0.1:${cluster.gateways[gateway]?.port}/api/v1/requests`
          const response = await fetch(url, { headers: { authorization: `Bearer ${account.key}` } })
          await response.arrayBuffer()
          return { status: response.status, retryAfter: response.headers.get("retry-after") }
        })
      for (const gateway of [0, 1]) assert.strictEqual(statusOf(yield* sendPlain(account, gateway)), "200")
      yield* cluster.database.crash
      for (const gateway of [0, 1]) {
        for (const one of [account, stranger]) {
          const outcome = yield* sendPlain(one, gateway)
          assert.strictEqual(statusOf(outcome), "503 store_unavailable")
          assert.match((outcome._tag === "Answered" && outcome.answer.retryAfter) || "", /^[1-9]\d*$/)
          const list = yield* read(one, gateway)
          assert.strictEqual(list.status, 503)
          assert.match(list.retryAfter ?? "", /^[1-9]\d*$/)
        }
      }
      yield* cluster.database.start
      for (const gateway of [0, 1]) {
        for (const one of [account, stranger]) {
          yield* until(
            `gateway ${gateway} serves again`,
            Effect.map(read(one, gateway), ({ status }) => {
              assert.include([200, 503], status)
              return status === 200
            }),
            "20 seconds"
          )
          assert.strictEqual(statusOf(yield* sendPlain(one, gateway)), "200")
        }
      }
      yield* checkLoad(cluster, load, [account, stranger])
    })
  )
})
