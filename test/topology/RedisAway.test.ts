/** Redis goes away and comes back: requests go on, and each node limits by itself meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { limits } from "../../src/ratelimit/Limits.ts"
import { until } from "../support/Until.ts"
import { missing, startTopology, type Topology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { chat, load, tally } from "./Callers.ts"
import { prove } from "./Evidence.ts"

announceSkip("an outage of Redis on several nodes", missing)

const limit = limits.chat.requests

/** Half as many again as a window admits, from one account at each node at once. */
const rush = ({ nodes }: Topology, key: string) =>
  Effect.forEach(
    nodes,
    ({ origin }) =>
      Effect.forEach(Array.from({ length: limit * 1.5 }).keys(), () => chat(origin, { key }), { concurrency: 30 }),
    { concurrency: "unbounded" }
  )

const refused = "429 rate_limit_exceeded"

describe.skipIf(missing !== undefined)("three nodes whose Redis goes away", () => {
  it.live("limit each by itself until it is back, and together again within five seconds", () =>
    Effect.gen(function* () {
      const topology = yield* startTopology({ settings: { RATE_LIMIT_SCALE: "1" } })
      const { nodes, open, redis } = topology
      for (const [away, back] of [
        [redis.stop, redis.start],
        [redis.hang, redis.resume]
      ] as const) {
        yield* away
        const alone = yield* open()
        for (const seen of yield* rush(topology, alone.key)) {
          assert.deepStrictEqual(tally(seen), { served: limit, [refused]: limit / 2 })
        }
        yield* back
        const from = performance.now()
        // A node shares its windows again when a request of it has found Redis.
        yield* until(
          "every node shares its windows",
          Effect.gen(function* () {
            const { key } = yield* open()
            const seen = yield* Effect.forEach(nodes, ({ origin }) => chat(origin, { key }))
            const left = seen.map(({ headers }) => Number(headers["x-ratelimit-remaining"]))
            return left.every((remaining, index) => remaining === limit - 1 - index)
          }),
          "10 seconds"
        )
        assert.isBelow(performance.now() - from, 5_000)
        const together = yield* open()
        const seen = (yield* rush(topology, together.key)).flat()
        assert.deepStrictEqual(tally(seen), { served: limit, [refused]: nodes.length * limit * 1.5 - limit })
      }
      assert.deepStrictEqual(yield* topology.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("serve every request under load meanwhile, none later than two seconds", () =>
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
      assert.deepStrictEqual(Object.keys(tally(callers.seen)), ["served"])
      const slowest = Math.max(...callers.seen.map(({ endedAt, startedAt }) => endedAt - startedAt))
      assert.isBelow(slowest, 2_000)
      yield* prove(topology, account, callers.seen)
    }).pipe(Effect.scoped)
  )
})
