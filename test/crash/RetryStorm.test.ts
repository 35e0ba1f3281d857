/** A thousand clients share fifty idempotency keys at two gateways, which the test kills. CRASH_SEED repeats a run. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Random } from "../ledger/Random.ts"
import { costOf } from "./Audit.ts"
import type { Operation } from "./Evidence.ts"
import { until } from "../support/Until.ts"
import { untilNoHold } from "./Run.ts"
import { comparableText, type FinalAnswer, retryUntilFinal, stormOperations } from "./RetryStorm.ts"
import { TwoGateways } from "./TwoGateways.ts"
import type { Account, Cluster } from "./Cluster.ts"

const KEYS = 50
const CLIENTS_PER_KEY = 20
const KILLS = 3

const seedText = process.env["CRASH_SEED"]
const seed = seedText === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(seedText)

interface Row {
  readonly id: string
  readonly idempotency_key: string
  readonly claimed: boolean
  readonly state: string
  readonly status: string
  readonly settled: bigint
  readonly error: string | null
}

const rowsOf = (cluster: Cluster, account: Account): Effect.Effect<ReadonlyArray<Row>, unknown> =>
  Effect.scoped(
    Effect.flatMap(
      cluster.sql,
      (sql) => sql<Row>`SELECT id, idempotency_key, claim IS NOT NULL AS claimed, state, status, settled,
        closed -> 'error' ->> '_tag' AS error FROM request WHERE account_id = ${account.id}`
    )
  )

/** Kills a gateway during the first answers, then the other one, and the first again. Returns the ids of requests open at a kill. */
const killGateways = (cluster: Cluster, account: Account) =>
  Effect.gen(function* () {
    const random = new Random(seed)
    const first = random.below(2)
    const [answered, waits] = [5 + random.below(15), Array.from({ length: KILLS }, () => random.below(1_500))]
    const interrupted = new Set<string>()
    const killAndRestart = (number: number) =>
      Effect.gen(function* () {
        const gateway = cluster.gateways[number]!
        yield* gateway.kill
        for (const { id, state } of yield* rowsOf(cluster, account)) if (state === "open") interrupted.add(id)
        yield* gateway.start
      })
    const count = (rows: ReadonlyArray<Row>, status: string) => rows.filter((row) => row.status === status).length
    yield* until(
      "some requests have succeeded and some are open",
      Effect.map(rowsOf(cluster, account), (rows) => count(rows, "succeeded") >= answered && count(rows, "open") >= 3)
    )
    const again = Effect.andThen(Effect.sleep(waits[1]!), killAndRestart(first))
    const other = Effect.andThen(Effect.sleep(waits[2]!), killAndRestart(1 - first))
    yield* Effect.all([Effect.andThen(killAndRestart(first), again), other], { concurrency: "unbounded" })
    return interrupted
  })

/** Checks that a key has one closed request and that all its clients have the same answer. Returns that request. */
const checkKey = (
  operation: Operation,
  {
    answers,
    interrupted,
    rows
  }: { answers: ReadonlyArray<FinalAnswer>; interrupted: ReadonlySet<string>; rows: ReadonlyArray<Row> }
): Row => {
  const [claimed, ...more] = rows.filter((row) => row.claimed)
  assert.isDefined(claimed, `${operation.id}: no request has its key`)
  assert.deepStrictEqual(more, [], `${operation.id}: two requests have its key`)
  assert.strictEqual(claimed.state, "settled", operation.id)
  for (const other of rows) if (other !== claimed) assert.strictEqual(other.settled, 0n, `${operation.id}: ${other.id}`)
  assert.strictEqual(answers.length, CLIENTS_PER_KEY, operation.id)
  assert.strictEqual(
    new Set(answers.map((one) => comparableText(one, operation))).size,
    1,
    `${operation.id}: its answers differ`
  )
  assert.isAtMost(answers.filter((one) => one.status === 200 && !one.replayed).length, 1, operation.id)
  const [answer] = answers
  assert.include(answer?.text, claimed.id)
  if (claimed.status === "succeeded") {
    assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200], operation.id)
    return claimed
  }
  // The only other outcome: a kill interrupted the request, its recorded progress was settled, and its answer is lost.
  assert.strictEqual(claimed.error, "HoldExpired", operation.id)
  assert.isTrue(interrupted.has(claimed.id), `${operation.id}: ${claimed.id} expired, and no kill interrupted it`)
  assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [409], operation.id)
  assert.strictEqual(JSON.parse(answer?.text ?? "{}").error.code, "idempotency_result_unavailable")
  return claimed
}

layer(TwoGateways.layer, { excludeTestServices: true, timeout: 60_000 })("an idempotency key", (it) => {
  it.effect(
    `is charged once for twenty retrying clients while gateways are killed (CRASH_SEED=${seed})`,
    () =>
      Effect.gen(function* () {
        const cluster = yield* TwoGateways
        // Low enough for the low-balance warning, whose text contains the current balance.
        const account = yield* cluster.open("storm", 4_000_000_000n)
        const operations = stormOperations(seed, KEYS, account.name)
        operations.forEach(cluster.upstream.script)
        const ports = cluster.gateways.map(({ port }) => port)
        const clients = Array.from({ length: KEYS * CLIENTS_PER_KEY }, (_, number) => ({
          operation: operations[number % KEYS]!,
          client: { key: account.key, ports, seed: seed + number }
        }))
        const [finalAnswers, interrupted] = yield* Effect.all(
          [
            Effect.promise(() =>
              Promise.all(clients.map(({ operation, client }) => retryUntilFinal(client, operation)))
            ),
            killGateways(cluster, account)
          ],
          { concurrency: "unbounded" }
        )
        yield* untilNoHold(cluster)
        const answers = Map.groupBy(
          finalAnswers.filter((one) => one !== undefined),
          ({ operation }) => operation
        )
        const rows = yield* rowsOf(cluster, account)
        const byKey = Map.groupBy(rows, (row) => row.idempotency_key)
        assert.sameMembers(
          [...byKey.keys()],
          operations.map((operation) => operation.idempotencyKey ?? "")
        )
        const charged = operations.map((operation) =>
          checkKey(operation, {
            answers: answers.get(operation.id) ?? [],
            interrupted,
            rows: byKey.get(operation.idempotencyKey ?? "") ?? []
          })
        )
        assert.strictEqual(new Set(charged.map(({ id }) => id)).size, KEYS)

        const receipts = new Map((yield* cluster.receipts(account)).map((receipt) => [receipt.id, receipt]))
        const succeeded = charged.filter(({ status }) => status === "succeeded")
        for (const { id, idempotency_key: key, settled } of succeeded) {
          const operation = operations.find((one) => one.idempotencyKey === key)!
          assert.strictEqual(settled, costOf(receipts.get(id)!.price!, operation.reported!), operation.id)
        }
        assert.isAbove(interrupted.size, 0)
        assert.isAbove(succeeded.length, 0)
        assert.isAtLeast(succeeded.length, KEYS - interrupted.size)
        assert.isAtMost(cluster.upstream.calls().length, rows.length)
        const { credited, held, open, posted } = yield* cluster.accountState(account)
        assert.deepStrictEqual([held, open], [0n, 0])
        assert.strictEqual(
          credited - posted,
          charged.reduce((sum, { settled }) => sum + settled, 0n)
        )
        assert.strictEqual(cluster.gateways.flatMap((gateway) => gateway.outages().kills).length, KILLS)
        assert.deepStrictEqual(yield* cluster.failedChecks, [])
      }),
    { timeout: 150_000 }
  )
})
