import { Clock, Context, Effect, Layer, type Redacted } from "effect"
import { millisOf } from "../platform/Monotonic.ts"
import { type Answers, MAX_BYTES } from "./Answers.ts"
import { MemoryAnswers } from "./MemoryAnswers.ts"
import { make as makeRedis } from "./RedisAnswers.ts"

const makeMemory = (capacity: number): Answers => {
  const answers = new MemoryAnswers(capacity)
  const nowOf = Effect.map(Clock.Clock, millisOf)
  return {
    get: (key) => Effect.map(nowOf, (now) => answers.get(key, now)),
    put: (key, text, lifeSeconds) => Effect.map(nowOf, (now) => answers.put(key, text, now + lifeSeconds * 1000, now))
  }
}

/** Answers of the legacy chat, given out again for the same question. It never fails, and nobody waits for it for long. */
export class ChatCache extends Context.Service<ChatCache, Answers>()("tollgate/cache/ChatCache") {
  /** In this process: of this node alone, bounded in memory, gone at a restart. */
  static readonly layerMemory = (capacity: number = MAX_BYTES): Layer.Layer<ChatCache> =>
    Layer.sync(this, () => makeMemory(capacity))

  /**
   * In Redis, shared by all nodes that use it. While Redis cannot be reached nothing is found and nothing kept; an outage is
   * logged once when it begins and once when it is over.
   */
  static readonly layerRedis = (url: Redacted.Redacted, capacity: number = MAX_BYTES): Layer.Layer<ChatCache> =>
    Layer.effect(this, makeRedis(url, capacity))

  /** Redis when there is one, else memory. */
  static readonly layerFrom = (options: {
    readonly redisUrl: Redacted.Redacted | undefined
    readonly capacity?: number
  }): Layer.Layer<ChatCache> =>
    options.redisUrl === undefined
      ? this.layerMemory(options.capacity)
      : this.layerRedis(options.redisUrl, options.capacity)
}
