import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { McpSessions } from "../../src/mcp/Sessions.ts"

/** Returns a server that numbers its sessions, and a log of those it opened and ended. */
const inner = () => {
  const log: Array<string> = []
  let opened = 0
  return {
    log,
    open: (revision: string) =>
      Effect.sync(() => {
        opened += 1
        log.push(`open ${revision}`)
        return `inner-${opened}`
      }),
    end: (id: string) => Effect.sync(() => void log.push(`end ${id}`))
  }
}

const idWithin = (sessions: McpSessions, key: string, id: string) =>
  sessions.within(key, id, "2025-06-18", (found) => Effect.succeed(found))

describe("McpSessions", () => {
  it.effect("uses a session under its own id, and only for its key", () =>
    Effect.gen(function* () {
      const server = inner()
      const sessions = new McpSessions(server)
      yield* sessions.opened("key-a", "one")
      assert.strictEqual(yield* idWithin(sessions, "key-a", "one"), "one")
      assert.strictEqual(yield* idWithin(sessions, "key-b", "one"), "inner-1")
      assert.deepStrictEqual(server.log, ["open 2025-06-18"])
    })
  )

  it.effect("continues a session of another node, and opens it once for concurrent requests", () =>
    Effect.gen(function* () {
      const server = inner()
      const sessions = new McpSessions(server)
      const ids = yield* Effect.all([idWithin(sessions, "a", "x"), idWithin(sessions, "a", "x")], { concurrency: 2 })
      assert.deepStrictEqual(ids, ["inner-1", "inner-1"])
      assert.deepStrictEqual(server.log, ["open 2025-06-18"])
    })
  )

  it.effect("does not continue a session that its client has ended, or an invalid id", () =>
    Effect.gen(function* () {
      const server = inner()
      const sessions = new McpSessions(server)
      yield* sessions.opened("a", "one")
      yield* sessions.end("a", "one")
      assert.isUndefined(yield* idWithin(sessions, "a", "one"))
      assert.isUndefined(yield* idWithin(sessions, "a", "x".repeat(129)))
      assert.isUndefined(yield* idWithin(sessions, "a", "two words"))
      assert.deepStrictEqual(server.log, ["end one"])
    })
  )

  it.effect("drops the least recently used session, but none that is in use", () =>
    Effect.gen(function* () {
      const server = inner()
      const sessions = new McpSessions(server, 2)
      const stop = yield* Deferred.make<void>()
      yield* sessions.opened("a", "busy")
      const busy = yield* Effect.forkChild(
        sessions.within("a", "busy", "", () => Deferred.await(stop)),
        { startImmediately: true }
      )
      yield* sessions.opened("a", "old")
      yield* sessions.opened("a", "new")
      assert.strictEqual(sessions.size, 2)
      assert.deepStrictEqual(server.log, ["end old"])
      yield* Deferred.succeed(stop, undefined)
      yield* Fiber.join(busy)
    })
  )
})
