import { Clock, Context, Effect, Layer, type Redacted } from "effect"
import { millisOf } from "../platform/Monotonic.ts"
import { MemoryWindows } from "./MemoryWindows.ts"
import { make as makeRedis } from "./RedisWindows.ts"
import type { Store } from "./Store.ts"

const makeMemory = (): Store => {
  const windows = new MemoryWindows()
  return {
    consume: (policy, subject, scale) =>
      Effect.withFiberSucceed((fiber) => windows.consume(policy, subject, scale, millisOf(fiber.getRef(Clock.Clock)))),
    peek: (policy, subject, scale) =>
      Effect.withFiberSucceed((fiber) => windows.peek(policy, subject, scale, millisOf(fiber.getRef(Clock.Clock))))
  }
}

/** Decides whether a request is within its limits. Never fails: see `layerRedis` for what happens without its Redis. */
export class RateLimiter extends Context.Service<RateLimiter, Store>()("tollgate/ratelimit/RateLimiter") {
  /** Windows in this process: exact for one node, bounded in memory, gone at a restart. */
  static readonly layerMemory = Layer.sync(this, makeMemory)

  /**
   * Windows in Redis, exact across all nodes that use it, and ended by its clock. While Redis cannot be reached every
   * node limits by its own memory instead, up to a whole limit each: money is guarded by the ledger, so an outage of
   * the limiter must neither stop the service nor lift the limits. For the same reason the layer is built whether or
   * not Redis is there. An outage is logged once when it begins and once when it is over.
   */
  static readonly layerRedis = (url: Redacted.Redacted): Layer.Layer<RateLimiter> =>
    Layer.effect(
      this,
      Effect.suspend(() => makeRedis(url, makeMemory()))
    )

  /** Redis when there is one, else memory. */
  static readonly layerFrom = (options: {
    readonly redisUrl: Redacted.Redacted | undefined
  }): Layer.Layer<RateLimiter> =>
    options.redisUrl === undefined ? this.layerMemory : this.layerRedis(options.redisUrl)
}
