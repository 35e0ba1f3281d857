import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Logger, Redacted, Schedule } from "effect"
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { makeRedisLink, type RedisLink } from "../../src/platform/RedisLink.ts"
import { missing, RedisServer } from "../support/Redis.ts"
import { announceSkip } from "../support/Skips.ts"

announceSkip("the Redis half of RedisLink", missing)

const words = { began: "Redis is down", over: "Redis is up" }

const recorder = () => {
  const lines: Array<string> = []
  return { lines, layer: Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))]) }
}

/** Runs an effect with the clock this many seconds ahead. */
const ahead = (seconds: number) =>
  Effect.updateService(Clock.Clock, (clock): Clock.Clock => {
    const monotonicTimeNanosUnsafe = () => clock.monotonicTimeNanosUnsafe() + BigInt(seconds) * 1_000_000_000n
    return Object.assign(Object.create(clock), { monotonicTimeNanosUnsafe })
  })

const ping = (link: RedisLink) => link.attempt((redis) => redis.send<string>("PING"))

/** Pings, each time two seconds later by the clock, until there is an answer. */
const untilBack = (link: RedisLink) => {
  let seconds = 0
  return Effect.suspend(() => ahead((seconds += 2))(ping(link))).pipe(
    Effect.repeat({ until: (answer) => answer !== undefined, schedule: Schedule.spaced("20 millis") })
  )
}

/** A relay in front of Redis that can fall silent; a connection that it accepted while silent stays silent. */
const middleman = (port: number) =>
  Effect.gen(function* () {
    let silent = false
    const sockets = new Set<Socket>()
    const swallowed: Array<Socket> = []
    const server = createServer((client) => {
      sockets.add(client.on("error", () => {}))
      if (silent) return void swallowed.push(client.resume())
      const upstream = connect(port, "127.0.0.1").on("error", () => {})
      sockets.add(upstream)
      client.on("data", (data) => silent || upstream.write(data))
      upstream.on("data", (data) => silent || client.write(data))
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
      () =>
        Effect.sync(() => {
          for (const socket of sockets) socket.destroy()
          server.close()
        })
    )
    const address = server.address()
    const url = Redacted.make(`redis://127.0.0.1:${typeof address === "object" ? address?.port : ""}`)
    return { url, swallowed, fallSilent: () => void (silent = true), speak: () => void (silent = false) }
  })

describe.skipIf(missing !== undefined)("a link to Redis", () => {
  it.live("returns Redis's answers, returns nothing while Redis is down, and logs each outage once", () => {
    const { layer, lines } = recorder()
    return Effect.gen(function* () {
      const server = yield* RedisServer
      const link = yield* makeRedisLink(server.url, words)
      assert.strictEqual(yield* ping(link), "PONG")
      assert.isNull(yield* link.attempt((redis) => redis.send("GET", "nothing")))
      for (const outage of [1, 2]) {
        yield* server.stop
        for (const _ of [1, 2, 3]) assert.isUndefined(yield* ping(link))
        yield* server.start
        yield* untilBack(link)
        assert.lengthOf(lines, 2 * outage, lines.join("\n"))
      }
      assert.include(lines[0], "Redis is down")
      assert.include(lines[1], "Redis is up")
    }).pipe(Effect.provide([RedisServer.layer, layer]))
  })

  it.live("receives an answer that arrived while the process was blocked for longer than its timeout", () => {
    const { layer, lines } = recorder()
    return Effect.gen(function* () {
      const server = yield* RedisServer
      const link = yield* makeRedisLink(server.url, words)
      assert.strictEqual(yield* ping(link), "PONG")
      const asked = yield* Effect.forkChild(ping(link))
      // Sends the request.
      yield* Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
      const until = performance.now() + 700
      while (performance.now() < until);
      assert.strictEqual(yield* Fiber.join(asked), "PONG")
      assert.deepStrictEqual(lines, [])
    }).pipe(Effect.provide([RedisServer.layer, layer]))
  })

  it.live("lets one request try a hanging Redis, and fails the others at once", () => {
    const { layer, lines } = recorder()
    return Effect.gen(function* () {
      const server = yield* RedisServer
      const link = yield* makeRedisLink(server.url, words)
      yield* server.hang
      assert.isUndefined(yield* ping(link))
      let asked = 0
      for (const _ of [1, 2, 3])
        yield* link.attempt((redis) =>
          Effect.andThen(
            Effect.sync(() => asked++),
            redis.send("PING")
          )
        )
      assert.strictEqual(asked, 0)
      yield* server.resume
      assert.strictEqual(yield* untilBack(link), "PONG")
      assert.include(lines[0], "no answer in time")
    }).pipe(Effect.provide([RedisServer.layer, layer]))
  })

  it.live(
    "gives up a connection that was accepted but never answered",
    () => {
      const { layer, lines } = recorder()
      return Effect.gen(function* () {
        const server = yield* RedisServer
        const between = yield* middleman(server.port)
        const link = yield* makeRedisLink(between.url, words)
        assert.strictEqual(yield* ping(link), "PONG")
        between.fallSilent()
        assert.isUndefined(yield* ping(link))
        yield* Effect.repeat(Effect.sleep("10 millis"), { until: () => between.swallowed.length > 0 })
        between.speak()
        assert.strictEqual(yield* Effect.timeout(untilBack(link), "12 seconds"), "PONG")
        assert.lengthOf(lines, 2, lines.join("\n"))
      }).pipe(Effect.provide([RedisServer.layer, layer]))
    },
    20_000
  )

  it.live(
    "is created while its connection is accepted but never answered, and recovers",
    () => {
      const { layer, lines } = recorder()
      return Effect.gen(function* () {
        const server = yield* RedisServer
        const between = yield* middleman(server.port)
        between.fallSilent()
        const link = yield* makeRedisLink(between.url, words)
        assert.isUndefined(yield* ping(link))
        between.speak()
        assert.strictEqual(yield* Effect.timeout(untilBack(link), "12 seconds"), "PONG")
        assert.lengthOf(lines, 2, lines.join("\n"))
      }).pipe(Effect.provide([RedisServer.layer, layer]))
    },
    20_000
  )

  it.live("is created without Redis, and logs no password", () => {
    const { layer, lines } = recorder()
    return Effect.gen(function* () {
      const server = yield* RedisServer
      yield* server.stop
      const url = Redacted.make(`redis://someone:planted-secret@127.0.0.1:${server.port}`)
      const link = yield* makeRedisLink(url, words)
      assert.isUndefined(yield* ping(link))
      assert.lengthOf(lines, 1)
      assert.include(lines[0], "ECONNREFUSED")
      assert.notInclude(lines[0], "planted-secret")
    }).pipe(Effect.provide([RedisServer.layer, layer]))
  })
})
