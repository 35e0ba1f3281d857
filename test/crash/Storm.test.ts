/** A thousand tries of fifty idempotency keys, over two processes that are killed; CRASH_SEED runs one again. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Random } from "../ledger/Random.ts"
import { costOf } from "./Audit.ts"
import type { Ask } from "./Notes.ts"
import { until } from "./Patience.ts"
import { untilNoHold } from "./Run.ts"
import { askUntilFinal, essenceOf, type Final, stormOf } from "./Storm.ts"
import { TwoGateways } from "./TwoGateways.ts"
import type { Account, World } from "./World.ts"

const KEYS = 50
const TRIES = 20
const KILLS = 3

const given = process.env["CRASH_SEED"]
const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given)

interface Row {
  readonly id: string
  readonly idempotency_key: string
  readonly claimed: boolean
  readonly state: string
  readonly status: string
  readonly settled: bigint
  readonly error: string | null
}

const rowsOf = (world: World, account: Account): Effect.Effect<ReadonlyArray<Row>, unknown> =>
  Effect.scoped(
    Effect.flatMap(
      world.sql,
      (sql) => sql<Row>`SELECT id, idempotency_key, claim IS NOT NULL AS claimed, state, status, settled,
        closed -> 'error' ->> '_tag' AS error FROM request WHERE account_id = ${account.id}`
    )
  )

/** Kills a gateway in the midst of the first answers, the other one soon after, and the first again when it is back. */
const kills = (world: World, account: Account) =>
  Effect.gen(function* () {
    const random = new Random(seed)
    const first = random.below(2)
    const [answered, waits] = [5 + random.below(15), Array.from({ length: KILLS }, () => random.below(1_500))]
    const caught = new Set<string>()
    const killed = (number: number) =>
      Effect.gen(function* () {
        const gateway = world.gateways[number]!
        yield* gateway.kill
        for (const { id, state } of yield* rowsOf(world, account)) if (state === "open") caught.add(id)
        yield* gateway.start
      })
    const count = (rows: ReadonlyArray<Row>, status: string) => rows.filter((row) => row.status === status).length
    yield* until(
      "some are answered and some are being answered",
      Effect.map(rowsOf(world, account), (rows) => count(rows, "succeeded") >= answered && count(rows, "open") >= 3)
    )
    const again = Effect.andThen(Effect.sleep(waits[1]!), killed(first))
    const other = Effect.andThen(Effect.sleep(waits[2]!), killed(1 - first))
    yield* Effect.all([Effect.andThen(killed(first), again), other], { concurrency: "unbounded" })
    return caught
  })

const groupOf = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string): ReadonlyMap<string, ReadonlyArray<A>> =>
  Map.groupBy(all, keyOf)

/** What one key came to: its one closed request, and the same answer for everybody. */
const checkKey = (
  ask: Ask,
  { answers, caught, rows }: { answers: ReadonlyArray<Final>; caught: ReadonlySet<string>; rows: ReadonlyArray<Row> }
): Row => {
  const [claimed, ...more] = rows.filter((row) => row.claimed)
  assert.isDefined(claimed, `${ask.id}: no request has its key`)
  assert.deepStrictEqual(more, [], `${ask.id}: its key is had twice`)
  assert.strictEqual(claimed.state, "settled", ask.id)
  for (const other of rows) if (other !== claimed) assert.strictEqual(other.settled, 0n, `${ask.id}: ${other.id}`)
  assert.strictEqual(answers.length, TRIES, ask.id)
  assert.strictEqual(new Set(answers.map((one) => essenceOf(one, ask))).size, 1, `${ask.id}: its answers differ`)
  assert.isAtMost(answers.filter((one) => one.status === 200 && !one.replayed).length, 1, ask.id)
  const [answer] = answers
  assert.include(answer?.text, claimed.id)
  if (claimed.status === "succeeded") {
    assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200], ask.id)
    return claimed
  }
  // The only other end: its process died with it, what it had recorded was settled, and nobody knows its answer.
  assert.strictEqual(claimed.error, "HoldExpired", ask.id)
  assert.isTrue(caught.has(claimed.id), `${ask.id}: ${claimed.id} expired, and no kill had met it`)
  assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [409], ask.id)
  assert.strictEqual(JSON.parse(answer?.text ?? "{}").error.code, "idempotency_result_unavailable")
  return claimed
}

layer(TwoGateways.layer, { excludeTestServices: true, timeout: 60_000 })("an idempotency key", (it) => {
  it.effect(
    `is charged once, whoever asks how often and whatever dies (CRASH_SEED=${seed})`,
    () =>
      Effect.gen(function* () {
        const world = yield* TwoGateways
        // Low enough for a warning, whose text is of the balance at that moment.
        const account = yield* world.open("storm", 4_000_000_000n)
        const asks = stormOf(seed, KEYS, account.name)
        asks.forEach(world.upstream.script)
        const ports = world.gateways.map(({ port }) => port)
        const clients = Array.from({ length: KEYS * TRIES }, (_, number) => ({
          ask: asks[number % KEYS]!,
          with_: { key: account.key, ports, seed: seed + number }
        }))
        const [finals, caught] = yield* Effect.all(
          [
            Effect.promise(() => Promise.all(clients.map(({ ask, with_ }) => askUntilFinal(with_, ask)))),
            kills(world, account)
          ],
          { concurrency: "unbounded" }
        )
        yield* untilNoHold(world)
        const answers = groupOf(
          finals.filter((one) => one !== undefined),
          ({ ask }) => ask
        )
        const rows = yield* rowsOf(world, account)
        const byKey = groupOf(rows, (row) => row.idempotency_key)
        assert.sameMembers(
          [...byKey.keys()],
          asks.map((ask) => ask.idempotencyKey ?? "")
        )
        const charged = asks.map((ask) =>
          checkKey(ask, {
            answers: answers.get(ask.id) ?? [],
            caught,
            rows: byKey.get(ask.idempotencyKey ?? "") ?? []
          })
        )
        assert.strictEqual(new Set(charged.map(({ id }) => id)).size, KEYS)

        const receipts = new Map((yield* world.receipts(account)).map((receipt) => [receipt.id, receipt]))
        const succeeded = charged.filter(({ status }) => status === "succeeded")
        for (const { id, idempotency_key: key, settled } of succeeded) {
          const ask = asks.find((one) => one.idempotencyKey === key)!
          assert.strictEqual(settled, costOf(receipts.get(id)!.price!, ask.reported!), ask.id)
        }
        assert.isAbove(caught.size, 0)
        assert.isAbove(succeeded.length, 0)
        assert.isAtLeast(succeeded.length, KEYS - caught.size)
        assert.isAtMost(world.upstream.calls().length, rows.length)
        const { credited, held, open, posted } = yield* world.books(account)
        assert.deepStrictEqual([held, open], [0n, 0])
        assert.strictEqual(
          credited - posted,
          charged.reduce((sum, { settled }) => sum + settled, 0n)
        )
        assert.strictEqual(world.gateways.flatMap((gateway) => gateway.troubles().deaths).length, KILLS)
        assert.deepStrictEqual(yield* world.faults, [])
      }),
    { timeout: 150_000 }
  )
})
