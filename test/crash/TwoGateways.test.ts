/** What two processes on one database must keep, at moments that are met and not left to chance. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { RequestList } from "../../schemas/account/Requests.ts"
import { countTokens } from "../../src/domain/Tokens.ts"
import { audit } from "./Audit.ts"
import { seenOf } from "./Case.ts"
import { emptyLoad, type Load, tryOnce } from "./Load.ts"
import { type Ask, dialects, type Ending, type Try } from "./Notes.ts"
import { until } from "./Patience.ts"
import { evidenceOf, untilNoHold } from "./Run.ts"
import { TwoGateways } from "./TwoGateways.ts"
import type { Account, World } from "./World.ts"
import { plainAsk, promptUsage } from "./Workload.ts"

const DOLLAR = 1_000_000_000n

/** Sends an ask once, as one of this load. */
const asking = (world: World, load: Load, ask: Ask, account: Account, gateway: number): Effect.Effect<Ending> =>
  Effect.promise(() => {
    load.asks.push(ask)
    world.upstream.script(ask)
    return tryOnce(world, load, ask, { account, gateway })
  })

const statusOf = (ending: Ending): string =>
  ending._tag === "Answered" ? `${ending.seen.status} ${ending.seen.code ?? ""}`.trim() : ending._tag

const settled = (world: World, load: Load, account: Account) =>
  Effect.gen(function* () {
    yield* untilNoHold(world)
    const all = yield* evidenceOf(world, load, [account])
    // The calls of the other tests' asks are none of this one's business.
    const mine = new Set(load.asks.map(({ id }) => id))
    const evidence = { ...all, calls: all.calls.filter(({ ask }) => mine.has(ask)) }
    assert.deepStrictEqual(audit(evidence), [])
    return evidence
  })

const words = ["one ", "two ", "three ", "four ", "five ", "six ", "seven ", "eight "]

/** Hangs up when so many frames have been seen and no more can come, or when the provider has been asked and says nothing. */
const cutAt = (
  world: World,
  load: Load,
  account: Account,
  { after, dialect, stream }: Pick<Ask, "dialect" | "stream"> & { readonly after: number }
) =>
  Effect.promise(async () => {
    const stall = { _tag: "Stall", after } as const
    const ask = plainAsk(`cut-${dialect}-${stream ? "stream" : "whole"}-${after}`, account.name, {
      dialect,
      stream,
      chunks: words,
      cutAfter: after,
      behaviour: { alpha: stall, beta: stall }
    })
    load.asks.push(ask)
    world.upstream.script(ask)
    const arrival = world.upstream.arrival(ask.id)
    const ending = await tryOnce(world, load, ask, { account, gateway: after % 2, beforeHead: arrival })
    // A gateway whose caller has gone lets go of its provider.
    const call = await arrival
    await call.over
    return { ask, ending, sent: call.note().sent }
  })

/** How many connections wait for a lock, in a statement of the ledger's. */
const waiting = (world: World) =>
  Effect.flatMap(world.sql, (sql) =>
    Effect.map(
      sql<{ waiting: bigint }>`SELECT count(*) AS waiting FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND query LIKE '%ledger_commit%'`,
      ([row]) => Number(row?.waiting ?? 0n)
    )
  ).pipe(Effect.scoped)

layer(TwoGateways.layer, { excludeTestServices: true, timeout: 60_000 })("two processes on one database", (it) => {
  for (const dialect of dialects) {
    it.effect(`settle what was delivered when the client of ${dialect} is cut off, at every chunk`, () =>
      Effect.gen(function* () {
        const world = yield* TwoGateways
        const account = yield* world.open(`cut-${dialect}`, DOLLAR)
        const load = emptyLoad()
        const indices = Array.from({ length: words.length + 1 }, (_, after) => after)
        for (const after of indices) {
          const { ending, sent } = yield* cutAt(world, load, account, { after, dialect, stream: true })
          assert.strictEqual(ending._tag, "Cut")
          assert.strictEqual(sent, after)
        }
        yield* cutAt(world, load, account, { after: 0, dialect, stream: false })
        const { receipts, tries } = yield* settled(world, load, account)
        const receiptOf = (one: Try | undefined) => receipts.find(({ traceId }) => traceId === one?.traceId)
        const charges = indices.map((index) => receiptOf(tries[index])?.settled ?? -1n)
        assert.strictEqual(charges[0], 0n)
        assert.deepStrictEqual(
          charges,
          charges.toSorted((a, b) => Number(a - b))
        )
        assert.strictEqual(new Set(charges).size, charges.length)
        assert.deepStrictEqual([...new Set(receipts.map(({ status }) => status))], ["cancelled"])
        assert.strictEqual(receiptOf(tries.at(-1))?.settled, 0n)
      })
    )
  }

  it.effect("charge a stream whose client leaves with its last frame", () =>
    Effect.gen(function* () {
      const world = yield* TwoGateways
      const account = yield* world.open("last-frame", DOLLAR)
      const load = emptyLoad()
      for (const gateway of [0, 1]) {
        const ask = plainAsk(`last-${gateway}`, account.name, { stream: true, chunks: words, cutAfter: words.length })
        yield* asking(world, load, ask, account, gateway)
      }
      const { receipts } = yield* settled(world, load, account)
      assert.strictEqual(receipts.length, 2)
      assert.isTrue(receipts.every((receipt) => receipt.settled > 0n))
    })
  )

  it.effect("serve exactly 37 of 200 requests at once to a balance for 37", () =>
    Effect.gen(function* () {
      const world = yield* TwoGateways
      const asks = Array.from({ length: 200 }, (_, number) => {
        const id = `of-200-${String(number).padStart(3, "0")}`
        // All that is held is used up, so that nothing of it comes back for a 38th.
        const usage = { prompt: promptUsage(id, false) + 32, completion: 50 }
        return plainAsk(id, "poor", { stream: number % 2 === 0, maxTokens: 50, reported: usage, atMost: usage })
      })
      const rich = yield* world.open("rich", DOLLAR)
      const load = emptyLoad()
      yield* asking(world, load, { ...asks[0]!, id: "of-200-999", account: "rich" }, rich, 0)
      const [price] = (yield* settled(world, load, rich)).receipts
      assert.isDefined(price)
      assert.strictEqual(price.settled, price.held)
      const poor = { ...(yield* world.open("poor", price.held * 37n)), name: "poor" }
      const rush = emptyLoad()
      const endings = yield* Effect.forEach(asks, (ask, index) => asking(world, rush, ask, poor, index % 2), {
        concurrency: "unbounded"
      })
      const statuses = endings.map(statusOf)
      assert.strictEqual(statuses.filter((status) => status === "200").length, 37)
      assert.strictEqual(statuses.filter((status) => status === "402 insufficient_credits").length, 163)
      const { books, calls } = yield* settled(world, rush, poor)
      const cost = price.held * 37n
      const budget = { spent: cost, limit: cost, told: [80, 100] }
      assert.deepStrictEqual(
        books.map((one) => ({ ...one, budget: { ...one.budget, told: one.budget.told.toSorted((a, b) => a - b) } })),
        [{ name: "poor", credited: cost, posted: 0n, held: 0n, open: 0, budget, used: { requests: 37, cost } }]
      )
      assert.strictEqual(calls.length, 37)
    })
  )

  it.effect("stop, on both, what waits for the balance while its key is revoked", () =>
    Effect.gen(function* () {
      const world = yield* TwoGateways
      const account = yield* world.open("revoked", DOLLAR)
      const load = emptyLoad()
      // Both know the key, so that only the hold itself can find out.
      for (const gateway of [0, 1]) {
        const known = yield* asking(world, load, plainAsk(`known-${gateway}`, account.name), account, gateway)
        assert.strictEqual(statusOf(known), "200")
      }
      const before = world.upstream.calls().length
      const waiters = Array.from({ length: 12 }, (_, number) =>
        plainAsk(`waits-${number}`, account.name, {
          stream: number % 3 === 0,
          idempotencyKey: number % 4 === 0 ? `key-waits-${number}` : undefined
        })
      )
      const endings = yield* Effect.scoped(
        Effect.gen(function* () {
          const sql = yield* world.sql
          const key = yield* sql<{ id: string }>`SELECT id FROM api_key
            WHERE account_id = ${account.id} AND kind = 'inference'`
          yield* sql`BEGIN`
          yield* sql`SELECT posted FROM balance WHERE account_id = ${account.id} FOR UPDATE`
          const asked = yield* Effect.forkChild(
            Effect.forEach(waiters, (ask, index) => asking(world, load, ask, account, index % 2), {
              concurrency: "unbounded"
            })
          )
          yield* until(
            "holds wait on both gateways",
            Effect.map(waiting(world), (count) => count >= 2)
          )
          assert.isTrue(yield* world.revoke(key[0]?.id ?? ""))
          assert.strictEqual(yield* waiting(world), 2)
          yield* sql`COMMIT`
          return yield* Fiber.join(asked)
        })
      )
      assert.deepStrictEqual([...new Set(endings.map(statusOf))], ["401 invalid_api_key"])
      assert.strictEqual(world.upstream.calls().length, before)
      const { held, open, posted } = yield* world.books(account)
      assert.deepStrictEqual([held, open], [0n, 0])
      assert.strictEqual(
        DOLLAR - posted,
        load.tries.reduce((sum, one) => sum + (seenOf(one)?.cost ?? 0n), 0n)
      )
      assert.deepStrictEqual(yield* world.faults, [])
    })
  )

  it.effect("show on the receipt of a stream whose gateway was killed what the last extension of its hold knew", () =>
    Effect.gen(function* () {
      const world = yield* TwoGateways
      const account = yield* world.open("killed", DOLLAR)
      const load = emptyLoad()
      const stall = { _tag: "Stall", after: 5 } as const
      const ask = plainAsk("killed-stream", account.name, {
        stream: true,
        chunks: words,
        behaviour: { alpha: stall, beta: stall }
      })
      const asked = yield* Effect.forkChild(asking(world, load, ask, account, 1))
      yield* until(
        "the hold is extended",
        Effect.scoped(
          Effect.flatMap(world.sql, (sql) =>
            Effect.map(
              sql`SELECT FROM request WHERE account_id = ${account.id} AND state = 'open' AND progress > 0`,
              (rows) => rows.length > 0
            )
          )
        )
      )
      const [, gateway] = world.gateways
      yield* gateway!.kill
      yield* Fiber.join(asked)
      yield* gateway!.start
      yield* settled(world, load, account)
      const list = yield* Effect.promise(async () => {
        const url = `http://127.0.0.1:${world.gateways[0]!.port}/api/v1/requests`
        const response = await fetch(url, { headers: { authorization: `Bearer ${account.key}` } })
        return Schema.decodeUnknownSync(RequestList)(await response.json())
      })
      const receipt = list.data[0]!
      assert.deepInclude(receipt, {
        status: "failed",
        model: ask.model,
        resolved_model: ask.model,
        usage_basis: "counted",
        finish_reason: null
      })
      assert.strictEqual(receipt.error?.code, "request_expired")
      const { price, routing, usage } = receipt
      if (price?.unit !== "token" || usage === null || "units" in usage) return assert.fail("not of tokens")
      const output = countTokens(words.slice(0, stall.after).join(""))
      assert.strictEqual(usage.output_tokens, output)
      assert.closeTo(receipt.cost_usd, usage.input_tokens * price.input + output * price.output, 1e-9)
      assert.isAbove(receipt.cost_usd, 0)
      assert.deepStrictEqual(
        [routing?.resolved_model, routing?.provider, routing?.provider_attempts?.map(({ outcome }) => outcome)],
        [ask.model, receipt.provider, ["served"]]
      )
      assert.isNumber(receipt.timings.first_token_ms)
    })
  )

  it.effect("answer 503 with Retry-After and never 401 while the database is down, and come back by themselves", () =>
    Effect.gen(function* () {
      const world = yield* TwoGateways
      const account = yield* world.open("outage", DOLLAR)
      const stranger = yield* world.open("stranger", DOLLAR)
      const load = emptyLoad()
      let number = 0
      const paid = (who: Account, gateway: number) =>
        Effect.suspend(() => {
          const ask = plainAsk(`outage-${number++}`, who.name)
          world.upstream.script(ask)
          return Effect.promise(() => {
            load.asks.push(ask)
            return tryOnce(world, load, ask, { account: who, gateway })
          })
        })
      const reading = (who: Account, gateway: number) =>
        Effect.promise(async () => {
          const url = `http://127.0.0.1:${world.gateways[gateway]?.port}/api/v1/requests`
          const response = await fetch(url, { headers: { authorization: `Bearer ${who.key}` } })
          await response.arrayBuffer()
          return { status: response.status, retryAfter: response.headers.get("retry-after") }
        })
      for (const gateway of [0, 1]) assert.strictEqual(statusOf(yield* paid(account, gateway)), "200")
      yield* world.database.crash
      for (const gateway of [0, 1]) {
        for (const who of [account, stranger]) {
          const ending = yield* paid(who, gateway)
          assert.strictEqual(statusOf(ending), "503 store_unavailable")
          assert.match((ending._tag === "Answered" && ending.seen.retryAfter) || "", /^[1-9]\d*$/)
          const read = yield* reading(who, gateway)
          assert.strictEqual(read.status, 503)
          assert.match(read.retryAfter ?? "", /^[1-9]\d*$/)
        }
      }
      yield* world.database.start
      for (const gateway of [0, 1]) {
        for (const who of [account, stranger]) {
          yield* until(
            `gateway ${gateway} serves again`,
            Effect.map(reading(who, gateway), ({ status }) => {
              assert.include([200, 503], status)
              return status === 200
            }),
            "20 seconds"
          )
          assert.strictEqual(statusOf(yield* paid(who, gateway)), "200")
        }
      }
      const evidence = yield* Effect.andThen(untilNoHold(world), evidenceOf(world, load, [account, stranger]))
      const mine = new Set(load.asks.map(({ id }) => id))
      assert.deepStrictEqual(audit({ ...evidence, calls: evidence.calls.filter(({ ask }) => mine.has(ask)) }), [])
    })
  )
})
