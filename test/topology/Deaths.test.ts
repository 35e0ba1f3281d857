/** A node dies under load: only what it was doing fails, and its holds end on the others. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { until } from "../support/Until.ts"
import { isFull, missing, startTopology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { chat, load, type Seen, tally } from "./Callers.ts"
import { prove } from "./Evidence.ts"

announceSkip("the death of a node", missing)

const CALLERS = 9

const callerOf = ({ idempotencyKey }: Seen) => Number(idempotencyKey!.split("-")[0])

describe.skipIf(missing !== undefined)("a node that is killed under load", () => {
  it.live("fails only its requests in flight, and leaves no hold", () =>
    Effect.gen(function* () {
      const topology = yield* startTopology()
      const { nodes, open, origin } = topology
      const account = yield* open()
      const asked = (caller: number, idempotencyKey: string) =>
        chat(origin, {
          key: account.key,
          idempotencyKey,
          stream: caller % 3 === 0,
          // Long enough that each node has requests in flight at any moment.
          sandbox: "latency_ms=60,chunk_ms=5"
        })
      const callers = yield* load(CALLERS, (caller, count) => asked(caller, `${caller}-${count}`))
      const servedBy = (name: string) => callers.seen.filter(({ headers }) => headers["x-node"] === name).length
      const deaths: Array<{ readonly from: number; readonly to: number }> = []
      for (const node of Array.from({ length: isFull ? 12 : 2 }, (_, turn) => nodes[turn % nodes.length]!)) {
        const before = new Map(nodes.map(({ name }) => [name, servedBy(name)]))
        yield* until(
          "every node has served",
          Effect.sync(() => nodes.every(({ name }) => servedBy(name) >= before.get(name)! + CALLERS))
        )
        const from = performance.now()
        yield* node.kill
        deaths.push({ from, to: performance.now() })
        yield* Effect.sleep("1 second")
        yield* node.start
      }
      yield* Effect.sleep("500 millis")
      yield* callers.end
      const failed = callers.seen.filter(({ isWhole }) => !isWhole)
      assert.isAbove(failed.length, 0)
      assert.isAtMost(failed.length, deaths.length * CALLERS)
      const inFlight = ({ endedAt, startedAt }: Seen) => deaths.some(({ from, to }) => startedAt < to && endedAt > from)
      assert.deepStrictEqual(tally(failed.filter((one) => !inFlight(one))), {})
      // Callers repeat under the same key what they do not know the end of, until its hold has ended.
      const repeated = yield* Effect.forEach(
        failed,
        (one) =>
          Effect.repeat(asked(callerOf(one), one.idempotencyKey!), {
            schedule: Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: "30 seconds" })),
            until: ({ status }) => status !== 409
          }),
        { concurrency: "unbounded" }
      )
      assert.notProperty(tally(repeated), "409 idempotency_in_progress")
      const broken = new Set(failed.map(({ idempotencyKey }) => idempotencyKey))
      yield* prove(topology, account, [...callers.seen, ...repeated], ({ key }) => broken.has(key ?? undefined))
    }).pipe(Effect.scoped)
  )
})
