/** One node is cut off from the database: its connections stay open and carry nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { until } from "../support/Until.ts"
import { freshDatabase } from "../support/Database.ts"
import { type Direction, startRelay } from "../support/Relay.ts"
import { get } from "../support/Service.ts"
import { isFull, missing, startTopology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { chat, load, type Outcome, tally } from "./Callers.ts"
import { checkCharges } from "./CheckCharges.ts"

announceSkip("a node that is cut off from its database", missing)

/** A node notices after waiting two seconds and probing for three; the rest is for a busy machine. */
const BOUND_MS = 10_000

/** The time until the balancer notices: a readiness check times out after a second, and HAProxy needs three. */
const NOTICED_MS = 4_000

/** In full runs, longer than the life of a hold and than a node's retries to record a charge. */
const PARTITION = isFull ? "45 seconds" : "8 seconds"

const startWithRelay = Effect.gen(function* () {
  const databaseUrl = yield* freshDatabase("partition")
  const { port } = new URL(databaseUrl)
  const relay = yield* startRelay(Number(port))
  const through = databaseUrl.replace(`:${port}/`, `:${relay.port}/`)
  const topology = yield* startTopology({
    databaseUrl,
    settingsOf: (index) => (index === 0 ? { DATABASE_URL: through } : {})
  })
  return { relay, topology }
})

const latencyOf = ({ endedAt, startedAt }: Outcome) => endedAt - startedAt

describe.skipIf(missing !== undefined)("a node that is cut off from the database", () => {
  for (const direction of ["both", "answers"] satisfies ReadonlyArray<Direction>) {
    it.live(
      `answers 503 in bounded time and recovers by itself while the others serve (direction lost: ${direction})`,
      () =>
        Effect.gen(function* () {
          const { relay, topology } = yield* startWithRelay
          const { nodes, open, origin } = topology
          const [cut] = nodes
          const [account, stranger] = [yield* open(), yield* open()]
          /** Sends the request of an idempotency key. The first caller of each kind streams. */
          const send = (at: string, idempotencyKey: string) =>
            chat(at, { key: account.key, idempotencyKey, stream: /^([bd]-0-|c-0)/.test(idempotencyKey) })
          const balanced = yield* load(6, (caller, count) => send(origin, `b-${caller}-${count}`), "20 millis")
          const direct = yield* load(3, (caller, count) => send(cut!.origin, `d-${caller}-${count}`), "20 millis")
          while (direct.outcomes.length < 20 || balanced.outcomes.length < 60) yield* Effect.sleep("10 millis")

          const cutAt = performance.now()
          yield* relay.cut(direction)
          yield* until(
            "the node is not ready",
            Effect.map(cut!.isReady, (ready) => !ready)
          )
          assert.isBelow(performance.now() - cutAt, NOTICED_MS)
          // A key outside the node's cache and a read wait for the database too.
          const reads = yield* Effect.forkChild(
            Effect.all(
              [
                chat(cut!.origin, { key: stranger.key }),
                Effect.map(get(`${cut!.api}/requests`, account.key), ({ status }) => ({ status }))
              ],
              { concurrency: "unbounded" }
            )
          )
          // The callers above may all wait for a charge since before the cut, so these requests begin during it.
          const begun = yield* Effect.forkChild(
            Effect.forEach([0, 1, 2], (count) => send(cut!.origin, `c-${count}`), { concurrency: "unbounded" })
          )
          yield* Effect.sleep(PARTITION)
          const answered = yield* Effect.timeout(Fiber.join(begun), BOUND_MS)
          const whileCut = [...answered, ...direct.outcomes.filter(({ startedAt }) => startedAt > cutAt)]
          assert.deepStrictEqual(Object.keys(tally(whileCut)), ["503 store_unavailable"])
          for (const { headers } of whileCut) assert.match(headers["retry-after"] ?? "", /^[1-9]\d*$/)

          const healedAt = performance.now()
          yield* relay.heal
          const waited = yield* Effect.timeout(reads.pipe(Fiber.join), "20 seconds")
          // A busy machine may notice so late that the healed connection answers first.
          for (const { status } of waited) assert.include([200, 503], status)
          yield* until("the node is ready", cut!.isReady)
          yield* until(
            "the node serves",
            Effect.sync(() => direct.outcomes.some(({ isComplete, startedAt }) => isComplete && startedAt > healedAt))
          )
          assert.isBelow(performance.now() - healedAt, BOUND_MS)
          yield* Effect.sleep("500 millis")
          yield* direct.end
          yield* balanced.end

          // Requests during the partition had an answer in bounded time.
          assert.isBelow(Math.max(...whileCut.map(latencyOf)), BOUND_MS)
          const failed = balanced.outcomes.filter(({ isComplete }) => !isComplete)
          for (const { headers, startedAt } of failed) {
            assert.strictEqual(headers["x-node"], cut!.name)
            assert.isBelow(startedAt - cutAt, NOTICED_MS)
          }
          // The database may have recorded a charge whose answer never reached the node. A repeat returns what was charged.
          const outcomes = [...balanced.outcomes, ...direct.outcomes]
          const repeated = yield* Effect.forEach(
            outcomes.filter(({ isComplete, startedAt }) => !isComplete && startedAt <= cutAt),
            ({ idempotencyKey }) => send(origin, idempotencyKey!)
          )
          yield* checkCharges(topology, account, [...outcomes, ...answered, ...repeated])
        }).pipe(Effect.scoped)
    )
  }

  it.live.skipIf(!isFull)("refunds a charge whose confirmation it lost, because no repeat returns the answer", () =>
    Effect.gen(function* () {
      const { relay, topology } = yield* startWithRelay
      const account = yield* topology.open()
      const cut = topology.nodes[0]!
      const request = chat(cut.origin, { key: account.key, sandbox: "latency_ms=2000", timeoutMs: 90_000 })
      const answer = yield* Effect.forkChild(request)
      yield* until(
        "the request has its hold",
        Effect.map(topology.accountState(account), ({ running }) => running === 1)
      )
      // The settle reaches the database, and its confirmation is lost.
      yield* relay.cut("answers")
      const { code, status } = yield* Fiber.join(answer)
      assert.deepStrictEqual([status, code], [503, "store_unavailable"])
      const charged = yield* topology.accountState(account)
      assert.isBelow(Number(charged.posted), Number(account.credited))
      yield* relay.heal
      yield* until(
        "the charge is refunded",
        Effect.map(topology.accountState(account), ({ posted }) => posted === account.credited)
      )
      assert.deepStrictEqual(yield* topology.failedChecks, [])
    }).pipe(Effect.scoped)
  )
})
