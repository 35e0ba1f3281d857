import { Clock, Context, Effect, Layer, type Redacted } from "effect"
import { millisOf } from "../platform/Monotonic.ts"
import { Metrics } from "../platform/telemetry/Metrics.ts"
import { isUnlimited, windowOf } from "./Limits.ts"
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

/** The store, with a metric of what it decides. */
const counting = (store: Store): Effect.Effect<Store> =>
  Effect.map(Metrics, ({ limits }) => ({
    ...store,
    consume: (policy, subject, scale) => {
      const consumed = store.consume(policy, subject, scale)
      if (isUnlimited(policy)) return consumed
      const window = windowOf(policy)
      return Effect.suspend(() => {
        const askedAt = performance.now()
        return Effect.map(consumed, (verdict) => {
          limits.counted(window, verdict.admitted, performance.now() - askedAt)
          return verdict
        })
      })
    }
  }))

/** Decides whether a request is within its limits. It never fails; `layerRedis` says what happens without its Redis. */
export class RateLimiter extends Context.Service<RateLimiter, Store>()("tollgate/ratelimit/RateLimiter") {
  /** Keeps windows in this process: exact for one node, bounded in memory, lost at a restart. */
  static readonly layerMemory = Layer.effect(
    this,
    Effect.suspend(() => counting(makeMemory()))
  )

  /**
   * Keeps windows in Redis, exact across all its nodes and timed by its clock. While Redis is unreachable, every node limits with
   * its own memory, up to the full limit each. The ledger guards the money, so an outage of the limiter must neither stop the
   * service nor lift the limits. For the same reason the layer starts whether or not Redis is reachable. It logs an outage once at
   * the beginning and once at the end.
   */
  static readonly layerRedis = (url: Redacted.Redacted): Layer.Layer<RateLimiter> =>
    Layer.effect(
      this,
      Effect.suspend(() => Effect.flatMap(makeRedis(url, makeMemory()), counting))
    )

  /** Uses Redis if it is configured, otherwise memory. */
  static readonly layerFrom = (options: {
    readonly redisUrl: Redacted.Redacted | undefined
  }): Layer.Layer<RateLimiter> =>
    options.redisUrl === undefined ? this.layerMemory : this.layerRedis(options.redisUrl)
}
