import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { missing, RedisServer } from "../support/Redis.ts"
import { announceSkip } from "../support/Skips.ts"
import { freshKey, node } from "./suite.ts"

announceSkip("the Redis half of RedisAnswers", missing)

describe.skipIf(missing !== undefined)("answers in Redis", () => {
  for (const away of ["stop", "hang"] as const) {
    it.live(`are missing while Redis is down (${away}), without an error`, () => {
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))])
      return Effect.gen(function* () {
        const server = yield* RedisServer
        const cache = yield* node(server.url)
        const key = freshKey()
        yield* cache.put(key, "kept", 60)
        assert.strictEqual(yield* cache.get(key), "kept")
        yield* server[away]
        assert.isUndefined(yield* cache.get(key))
        yield* cache.put(key, "lost", 60)
        assert.isUndefined(yield* cache.get(key))
        assert.lengthOf(lines, 1, lines.join("\n"))
        assert.include(lines[0], "chat cache: Redis does not answer")
        if (away === "hang") yield* server.resume
      }).pipe(Effect.provide([RedisServer.layer, logger]))
    })
  }
})
