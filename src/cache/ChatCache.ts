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

/** The cached responses of the legacy chat. It never fails and never delays a request for long. */
export class ChatCache extends Context.Service<ChatCache, Answers>()("tollgate/cache/ChatCache") {
  /** Creates a cache in this process, for this node alone: bounded in memory and lost at a restart. */
  static readonly layerMemory = (capacity: number = MAX_BYTES): Layer.Layer<ChatCache> =>
    Layer.sync(this, () => makeMemory(capacity))

  /**
   * Creates a cache in Redis that all its nodes share. While Redis is unreachable, it finds and stores nothing. It logs an outage
   * once at the beginning and once at the end.
   */
  static readonly layerRedis = (url: Redacted.Redacted, capacity: number = MAX_BYTES): Layer.Layer<ChatCache> =>
    Layer.effect(this, makeRedis(url, capacity))

  /** Uses Redis if it is configured, otherwise memory. */
  static readonly layerFrom = (options: {
    readonly redisUrl: Redacted.Redacted | undefined
    readonly capacity?: number
  }): Layer.Layer<ChatCache> =>
    options.redisUrl === undefined
      ? this.layerMemory(options.capacity)
      : this.layerRedis(options.redisUrl, options.capacity)
}
