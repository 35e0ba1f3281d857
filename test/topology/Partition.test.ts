/** One node is cut off from the database: nothing arrives and no connection ends. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { until } from "../support/Until.ts"
import { freshDatabase } from "../support/Database.ts"
import { type Direction, startRelay } from "../support/Relay.ts"
import { get } from "../support/Service.ts"
import { isFull, missing, startTopology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { chat, load, type Seen, tally } from "./Callers.ts"
import { prove } from "./Evidence.ts"

announceSkip("a node that is cut off from its database", missing)

/** A node finds out within two seconds of waiting and three of asking; the rest is for a busy machine. */
const BOUND_MS = 10_000

/** How long a balancer takes to notice: the readiness check waits a second, and HAProxy asks three times. */
const NOTICED_MS = 4_000

/** In full, longer than a hold lives and than a node tries to record a charge. */
const CUT = isFull ? "45 seconds" : "8 seconds"

const startCut = Effect.gen(function* () {
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

const took = ({ endedAt, startedAt }: Seen) => endedAt - startedAt

describe.skipIf(missing !== undefined)("a node that is cut off from the database", () => {
  for (const direction of ["both", "answers"] satisfies ReadonlyArray<Direction>) {
    it.live(`answers 503 soon and serves again by itself, while the others serve: ${direction} lost`, () =>
      Effect.gen(function* () {
        const { relay, topology } = yield* startCut
        const { nodes, open, origin } = topology
        const [cut] = nodes
        const [account, stranger] = [yield* open(), yield* open()]
        /** Asks for what a key names; the first caller of each kind streams. */
        const asked = (at: string, idempotencyKey: string) =>
          chat(at, { key: account.key, idempotencyKey, stream: /^([bd]-0-|c-0)/.test(idempotencyKey) })
        const balanced = yield* load(6, (caller, count) => asked(origin, `b-${caller}-${count}`), "20 millis")
        const direct = yield* load(3, (caller, count) => asked(cut!.origin, `d-${caller}-${count}`), "20 millis")
        while (direct.seen.length < 20 || balanced.seen.length < 60) yield* Effect.sleep("10 millis")

        const cutAt = performance.now()
        yield* relay.cut(direction)
        yield* until(
          "the node is not ready",
          Effect.map(cut!.isReady, (ready) => !ready)
        )
        assert.isBelow(performance.now() - cutAt, NOTICED_MS)
        // A key that the node does not remember, and a read, wait for the database as well.
        const reads = yield* Effect.forkChild(
          Effect.all(
            [
              chat(cut!.origin, { key: stranger.key }),
              Effect.map(get(`${cut!.api}/requests`, account.key), ({ status }) => ({ status }))
            ],
            { concurrency: "unbounded" }
          )
        )
        // The callers above may all wait for a charge that began before the cut, and so begin nothing during it.
        const begun = yield* Effect.forkChild(
          Effect.forEach([0, 1, 2], (count) => asked(cut!.origin, `c-${count}`), { concurrency: "unbounded" })
        )
        yield* Effect.sleep(CUT)
        const answered = yield* Effect.timeout(Fiber.join(begun), BOUND_MS)
        const whileCut = [...answered, ...direct.seen.filter(({ startedAt }) => startedAt > cutAt)]
        assert.deepStrictEqual(Object.keys(tally(whileCut)), ["503 store_unavailable"])
        for (const { headers } of whileCut) assert.match(headers["retry-after"] ?? "", /^[1-9]\d*$/)

        const healedAt = performance.now()
        yield* relay.heal
        const waited = yield* Effect.timeout(reads.pipe(Fiber.join), "20 seconds")
        // A busy machine may find out so late that the answer of the healed network comes first.
        for (const { status } of waited) assert.include([200, 503], status)
        yield* until("the node is ready", cut!.isReady)
        yield* until(
          "the node serves",
          Effect.sync(() => direct.seen.some(({ isWhole, startedAt }) => isWhole && startedAt > healedAt))
        )
        assert.isBelow(performance.now() - healedAt, BOUND_MS)
        yield* Effect.sleep("500 millis")
        yield* direct.end
        yield* balanced.end

        // What was begun while the node was cut off was answered in bounded time.
        assert.isBelow(Math.max(...whileCut.map(took)), BOUND_MS)
        const failed = balanced.seen.filter(({ isWhole }) => !isWhole)
        for (const { headers, startedAt } of failed) {
          assert.strictEqual(headers["x-node"], cut!.name)
          assert.isBelow(startedAt - cutAt, NOTICED_MS)
        }
        // The database may have recorded a charge without the node's hearing of it. A repeat gets what was charged.
        const seen = [...balanced.seen, ...direct.seen]
        const repeated = yield* Effect.forEach(
          seen.filter(({ isWhole, startedAt }) => !isWhole && startedAt <= cutAt),
          ({ idempotencyKey }) => asked(origin, idempotencyKey!)
        )
        yield* prove(topology, account, [...seen, ...answered, ...repeated])
      }).pipe(Effect.scoped)
    )
  }

  it.live.skipIf(!isFull)("gives back a charge that it did not hear of, because no repeat returns the answer", () =>
    Effect.gen(function* () {
      const { relay, topology } = yield* startCut
      const account = yield* topology.open()
      const cut = topology.nodes[0]!
      const asked = chat(cut.origin, { key: account.key, sandbox: "latency_ms=2000", patienceMs: 90_000 })
      const answer = yield* Effect.forkChild(asked)
      yield* until(
        "the request has its hold",
        Effect.map(topology.books(account), ({ running }) => running === 1)
      )
      // The settle reaches the database, and nothing comes back.
      yield* relay.cut("answers")
      const { code, status } = yield* Fiber.join(answer)
      assert.deepStrictEqual([status, code], [503, "store_unavailable"])
      const charged = yield* topology.books(account)
      assert.isBelow(Number(charged.posted), Number(account.credited))
      yield* relay.heal
      yield* until(
        "the charge is given back",
        Effect.map(topology.books(account), ({ posted }) => posted === account.credited)
      )
      assert.deepStrictEqual(yield* topology.faults, [])
    }).pipe(Effect.scoped)
  )
})
