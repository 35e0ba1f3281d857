import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { Clock, Effect, Logger, Redacted, Schedule } from "effect"
import type { Store } from "../../src/ratelimit/Store.ts"
import { missing, RedisServer } from "../support/Redis.ts"
import { announceSkip } from "../support/Skips.ts"
import { admittedOf, freshKey, node, rush } from "./suite.ts"

announceSkip("the Redis half of RedisWindows", missing)

const recorder = () => {
  const lines: Array<string> = []
  const logger = Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))
  return { lines, layer: Logger.layer([logger]) }
}

const count = (lines: ReadonlyArray<string>, words: string) => lines.filter((line) => line.includes(words)).length

/** Runs an effect with the clock this many seconds ahead. */
const ahead = (seconds: number) =>
  Effect.updateService(Clock.Clock, (clock): Clock.Clock => {
    const monotonicTimeNanosUnsafe = () => clock.monotonicTimeNanosUnsafe() + BigInt(seconds) * 1_000_000_000n
    return Object.assign(Object.create(clock), { monotonicTimeNanosUnsafe })
  })

/**
 * Peeks, each time two seconds later by the clock, until the log has reported `recoveries` times that Redis answers again.
 */
const untilShared = (store: Store, lines: ReadonlyArray<string>, recoveries: number) => {
  let seconds = 0
  return Effect.suspend(() => store.peek("default", freshKey(), 1).pipe(ahead((seconds += 2)))).pipe(
    Effect.repeat({
      until: () => count(lines, "answers again") === recoveries,
      schedule: Schedule.spaced("20 millis")
    })
  )
}

const admittedInRush = (stores: readonly [Store, Store]) =>
  Effect.map(rush(stores, "chat", freshKey()), (verdicts) => admittedOf(verdicts).length)

/** Forwards to `port`; `freeze` makes the current connections dead without closing them, while new ones work. */
const proxy = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      let accepted = 0
      const server = createServer((near) => {
        accepted++
        const far = connect(port, "127.0.0.1")
        for (const [from, to] of [
          [near, far],
          [far, near]
        ] as const) {
          sockets.add(from)
          from.on("data", (chunk) => void to.write(chunk)).on("error", () => {})
          from.once("close", () => {
            sockets.delete(from)
            to.destroy()
          })
        }
      }).listen(0, "127.0.0.1")
      await once(server, "listening")
      const freeze = () => {
        for (const socket of sockets) socket.removeAllListeners("data").pause()
      }
      const close = () => {
        server.close()
        for (const socket of sockets) socket.destroy()
      }
      const url = Redacted.make(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`)
      return { url, accepted: () => accepted, freeze, close }
    }),
    ({ close }) => Effect.sync(close)
  )

describe.skipIf(missing !== undefined)("the rate limiter, when Redis", () => {
  it.live("stops, limits on each node alone, logs each outage once, and shares again by itself", () => {
    const logs = [recorder(), recorder()] as const
    return Effect.gen(function* () {
      const server = yield* RedisServer
      const a = yield* node(server.url).pipe(Effect.provide(logs[0].layer))
      const b = yield* node(server.url).pipe(Effect.provide(logs[1].layer))
      const viaA: Store["consume"] = (...request) => a.consume(...request).pipe(Effect.provide(logs[0].layer))
      const viaB: Store["consume"] = (...request) => b.consume(...request).pipe(Effect.provide(logs[1].layer))
      const nodes = [
        { ...a, consume: viaA },
        { ...b, consume: viaB }
      ] as const
      for (const outage of [1, 2]) {
        assert.strictEqual(yield* admittedInRush(nodes), 60)
        yield* server.stop
        assert.strictEqual(yield* admittedInRush(nodes), 120)
        assert.strictEqual(yield* admittedInRush([nodes[0], nodes[0]]).pipe(ahead(2)), 60)
        yield* server.start
        yield* untilShared(a, logs[0].lines, outage).pipe(Effect.provide(logs[0].layer))
        yield* untilShared(b, logs[1].lines, outage).pipe(Effect.provide(logs[1].layer))
        assert.strictEqual(yield* admittedInRush(nodes), 60)
        for (const { lines } of logs) {
          assert.strictEqual(count(lines, "does not answer"), outage)
          assert.strictEqual(lines.length, 2 * outage, lines.join("\n"))
        }
      }
    }).pipe(Effect.provide(RedisServer.layer))
  })

  it.live("is back, lets one request try it while the others do not wait", () => {
    const { layer, lines } = recorder()
    return Effect.gen(function* () {
      const server = yield* RedisServer
      const store = yield* node(server.url)
      yield* server.stop
      assert.strictEqual(yield* admittedInRush([store, store]), 60)
      yield* server.start
      const admitted: Array<number> = []
      const rushLater = Effect.suspend(() => admittedInRush([store, store]).pipe(ahead(2 * admitted.length + 2)))
      yield* rushLater.pipe(
        Effect.tap((number) => Effect.sync(() => admitted.push(number))),
        Effect.repeat({ until: () => count(lines, "answers again") === 1, schedule: Schedule.spaced("20 millis") })
      )
      // In the rush that found Redis again, one request was admitted by Redis, in addition to the 60 of this node.
      assert.strictEqual(admitted.pop(), 61)
      assert.deepStrictEqual(
        admitted.filter((number) => number !== 60),
        []
      )
      assert.strictEqual(yield* admittedInRush([store, store]), 60)
      assert.strictEqual(lines.length, 2, lines.join("\n"))
    }).pipe(Effect.provide([RedisServer.layer, layer]))
  })

  it.live("hangs, lets no request wait for long, and recovers with Redis", () => {
    const { layer, lines } = recorder()
    return Effect.gen(function* () {
      const server = yield* RedisServer
      const store = yield* node(server.url)
      assert.strictEqual(yield* admittedInRush([store, store]), 60)
      yield* server.hang
      assert.strictEqual(yield* admittedInRush([store, store]), 60)
      assert.strictEqual(count(lines, "no answer in time"), 1)
      yield* server.resume
      yield* untilShared(store, lines, 1)
      assert.strictEqual(yield* admittedInRush([store, store]), 60)
      assert.strictEqual(lines.length, 2, lines.join("\n"))
    }).pipe(Effect.provide([RedisServer.layer, layer]))
  })

  it.live("is gone without closing its connections, opens a new connection", () => {
    const { layer, lines } = recorder()
    return Effect.gen(function* () {
      const server = yield* RedisServer
      const between = yield* proxy(server.port)
      const store = yield* node(between.url)
      const direct = yield* node(server.url)
      assert.strictEqual(yield* admittedInRush([store, direct]), 60)
      between.freeze()
      assert.strictEqual(yield* admittedInRush([store, store]), 60)
      assert.strictEqual(count(lines, "does not answer"), 1)
      yield* untilShared(store, lines, 1)
      assert.strictEqual(between.accepted(), 2)
      assert.strictEqual(yield* admittedInRush([store, direct]), 60)
    }).pipe(Effect.provide([RedisServer.layer, layer]))
  })

  it.live("is absent at the start, starts alone, and shares once Redis answers", () => {
    const { layer, lines } = recorder()
    return Effect.gen(function* () {
      const server = yield* RedisServer
      yield* server.stop
      const store = yield* node(server.url)
      assert.strictEqual(count(lines, "does not answer"), 1)
      assert.strictEqual(count(lines, "ECONNREFUSED"), 1)
      assert.strictEqual(yield* admittedInRush([store, store]), 60)
      yield* server.start
      const direct = yield* node(server.url)
      yield* untilShared(store, lines, 1)
      assert.strictEqual(yield* admittedInRush([store, direct]), 60)
      assert.strictEqual(lines.length, 2, lines.join("\n"))
    }).pipe(Effect.provide([RedisServer.layer, layer]))
  })

  it.live("rejects the password, limits on the node alone, and does not log the password", () => {
    const { layer, lines } = recorder()
    return Effect.gen(function* () {
      const server = yield* RedisServer
      const store = yield* node(Redacted.make(`redis://someone:planted-secret@127.0.0.1:${server.port}`))
      assert.strictEqual(yield* admittedInRush([store, store]), 60)
      assert.strictEqual(lines.length, 1, lines.join("\n"))
      assert.strictEqual(count(lines, "WRONGPASS"), 1, lines.join("\n"))
      assert.strictEqual(count(lines, "planted-secret"), 0)
    }).pipe(Effect.provide([RedisServer.layer, layer]))
  })
})
