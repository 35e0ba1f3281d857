/** An outage of Redis: the nodes keep serving, and each limits by itself. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { limits } from "../../src/ratelimit/Limits.ts"
import { until } from "../support/Until.ts"
import { missing, startTopology, type Topology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { chat, load, tally } from "./Callers.ts"
import { checkCharges } from "./CheckCharges.ts"

announceSkip("an outage of Redis on several nodes", missing)

const limit = limits.chat.requests

/** Sends 1.5 times a window's number of requests of one account to each node at once. */
const rush = ({ nodes }: Topology, key: string) =>
  Effect.forEach(
    nodes,
    ({ origin }) =>
      Effect.forEach(Array.from({ length: limit * 1.5 }).keys(), () => chat(origin, { key }), { concurrency: 30 }),
    { concurrency: "unbounded" }
  )

const LIMITED = "429 rate_limit_exceeded"

describe.skipIf(missing !== undefined)("three nodes during an outage of Redis", () => {
  it.live("each limit by themselves, and together again within five seconds of its end", () =>
    Effect.gen(function* () {
      const topology = yield* startTopology({ settings: { RATE_LIMIT_SCALE: "1" } })
      const { nodes, open, redis } = topology
      for (const [away, back] of [
        [redis.stop, redis.start],
        [redis.hang, redis.resume]
      ] as const) {
        yield* away
        const alone = yield* open()
        for (const outcomes of yield* rush(topology, alone.key)) {
          assert.deepStrictEqual(tally(outcomes), { served: limit, [LIMITED]: limit / 2 })
        }
        yield* back
        const from = performance.now()
        // A node shares its windows again after its first request that reaches Redis.
        yield* until(
          "every node shares its windows",
          Effect.gen(function* () {
            const { key } = yield* open()
            const outcomes = yield* Effect.forEach(nodes, ({ origin }) => chat(origin, { key }))
            const left = outcomes.map(({ headers }) => Number(headers["x-ratelimit-remaining"]))
            return left.every((remaining, index) => remaining === limit - 1 - index)
          }),
          "10 seconds"
        )
        assert.isBelow(performance.now() - from, 5_000)
        const together = yield* open()
        const outcomes = (yield* rush(topology, together.key)).flat()
        assert.deepStrictEqual(tally(outcomes), { served: limit, [LIMITED]: nodes.length * limit * 1.5 - limit })
      }
      assert.deepStrictEqual(yield* topology.failedChecks, [])
    }).pipe(Effect.scoped)
  )

  it.live("serve every request under load within two seconds", () =>
    Effect.gen(function* () {
      const topology = yield* startTopology()
      const { open, origin, redis } = topology
      const account = yield* open()
      const callers = yield* load(
        6,
        (caller) => chat(origin, { key: account.key, stream: caller % 2 === 0 }),
        "10 millis"
      )
      for (const step of [redis.stop, redis.start, redis.hang, redis.resume]) {
        yield* Effect.sleep("700 millis")
        yield* step
      }
      yield* Effect.sleep("1500 millis")
      yield* callers.end
      assert.deepStrictEqual(Object.keys(tally(callers.outcomes)), ["served"])
      const slowest = Math.max(...callers.outcomes.map(({ endedAt, startedAt }) => endedAt - startedAt))
      assert.isBelow(slowest, 2_000)
      yield* checkCharges(topology, account, callers.outcomes)
    }).pipe(Effect.scoped)
  )
})
