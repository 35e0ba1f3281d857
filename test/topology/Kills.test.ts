/** Kills of nodes under load. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { until } from "../support/Until.ts"
import { isFull, missing, startTopology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { callerOf, chat, load, type Outcome, tally } from "./Callers.ts"
import { checkCharges } from "./CheckCharges.ts"

announceSkip("the kill of a node", missing)

const CALLERS = 9

describe.skipIf(missing !== undefined)("a node that is killed under load", () => {
  it.live("fails only its requests in flight, and the other nodes end its holds", () =>
    Effect.gen(function* () {
      const topology = yield* startTopology()
      const { nodes, open, origin } = topology
      const account = yield* open()
      const send = (caller: number, idempotencyKey: string) =>
        chat(origin, {
          key: account.key,
          idempotencyKey,
          stream: caller % 3 === 0,
          // Slow enough that each node always has requests in flight.
          sandbox: "latency_ms=60,chunk_ms=5"
        })
      const callers = yield* load(CALLERS, (caller, count) => send(caller, `${caller}-${count}`))
      const servedBy = (name: string) => callers.outcomes.filter(({ headers }) => headers["x-node"] === name).length
      const kills: Array<{ readonly from: number; readonly to: number }> = []
      for (const node of Array.from({ length: isFull ? 12 : 2 }, (_, turn) => nodes[turn % nodes.length]!)) {
        const before = new Map(nodes.map(({ name }) => [name, servedBy(name)]))
        yield* until(
          "every node has served",
          Effect.sync(() => nodes.every(({ name }) => servedBy(name) >= before.get(name)! + CALLERS))
        )
        const from = performance.now()
        yield* node.kill
        kills.push({ from, to: performance.now() })
        yield* Effect.sleep("1 second")
        yield* node.start
      }
      yield* Effect.sleep("500 millis")
      yield* callers.end
      const failed = callers.outcomes.filter(({ isComplete }) => !isComplete)
      assert.isAbove(failed.length, 0)
      assert.isAtMost(failed.length, kills.length * CALLERS)
      const inFlight = ({ endedAt, startedAt }: Outcome) =>
        kills.some(({ from, to }) => startedAt < to && endedAt > from)
      assert.deepStrictEqual(tally(failed.filter((one) => !inFlight(one))), {})
      // Callers repeat failed requests under the same key until the holds have ended.
      const repeated = yield* Effect.forEach(
        failed,
        (one) =>
          Effect.repeat(send(callerOf(one), one.idempotencyKey!), {
            schedule: Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: "30 seconds" })),
            until: ({ status }) => status !== 409
          }),
        { concurrency: "unbounded" }
      )
      assert.notProperty(tally(repeated), "409 idempotency_in_progress")
      const interrupted = new Set(failed.map(({ idempotencyKey }) => idempotencyKey))
      yield* checkCharges(topology, account, [...callers.outcomes, ...repeated], ({ key }) =>
        interrupted.has(key ?? undefined)
      )
    }).pipe(Effect.scoped)
  )
})
