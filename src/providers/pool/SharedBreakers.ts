/** Shares open breakers between nodes through Redis, in the background. No request waits for it. */
import { Clock, Effect, Random, type Redacted, type Scope } from "effect"
import { Redis } from "effect/persistence"
import { millisOf } from "../../platform/Monotonic.ts"
import { makeRedisLink } from "../../platform/RedisLink.ts"
import { type Opening, rules } from "./Breaker.ts"
import type { Host } from "../Hosts.ts"

/** Other nodes learn of an opening after at most two of these intervals. The shortest opening lasts three. */
const INTERVAL = "500 millis"
/** The maximum number of openings in Redis, and so in one reply. Beyond it, those that end first are dropped. */
const MAX_SHARED = 1_000
/** The maximum number of openings sent at once. The rest goes out in the next round. */
const MAX_SENT = 500

const KEY = "tollgate:breakers"

/**
 * Stores each opening for this many milliseconds, never shortening an existing one, and returns all that are open. Redis's clock
 * decides: nodes only exchange remaining times. The key expires with its last opening.
 */
const exchangeScript = Redis.script(
  (sent: ReadonlyMap<string, number>) => [KEY, MAX_SHARED, ...[...sent].flatMap(([name, leftMs]) => [name, leftMs])],
  {
    numberOfKeys: 1,
    lua: `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now)
for at = 2, #ARGV, 2 do
  local before = redis.call("ZSCORE", KEYS[1], ARGV[at])
  local ends = now + tonumber(ARGV[at + 1])
  if not before or tonumber(before) < ends then redis.call("ZADD", KEYS[1], ends, ARGV[at]) end
end
redis.call("ZREMRANGEBYRANK", KEYS[1], 0, -ARGV[1] - 1)
local last = redis.call("ZRANGE", KEYS[1], -1, -1, "WITHSCORES")
if last[2] then redis.call("PEXPIREAT", KEYS[1], last[2]) end
return {now, redis.call("ZRANGE", KEYS[1], 0, -1, "WITHSCORES")}
`
  }
).withReturnType<readonly [nowMs: number, namesAndEnds: ReadonlyArray<string>]>()

/** The name of an opening in Redis. Provider ids contain no spaces. */
const nameOf = (kind: "open" | "paused", provider: string, model: string) => `${kind} ${provider} ${model}`

/** The openings that this node has not sent yet: at most two for each of its breakers. */
export class Openings {
  /** The end of each opening, by its name. */
  readonly #unsent = new Map<string, number>()

  /** A bound function, so that it can be passed on. */
  readonly add = (provider: string, model: string, { pausedUntil, until }: Opening): void => {
    this.#unsent.set(nameOf("open", provider, model), until)
    this.#unsent.set(nameOf("paused", provider, model), pausedUntil)
  }

  /** Some of the openings, with the remaining milliseconds of each. */
  left(now: number): ReadonlyMap<string, number> {
    const left = new Map<string, number>()
    for (const [name, until] of this.#unsent) {
      const leftMs = Math.ceil(until - now)
      if (leftMs <= 0) this.#unsent.delete(name)
      else if (left.size < MAX_SENT) left.set(name, leftMs)
    }
    return left
  }

  /** Removes the openings that were sent at that time. One that was extended since then stays. */
  sent(names: ReadonlyMap<string, number>, at: number): void {
    for (const [name, leftMs] of names) {
      const until = this.#unsent.get(name)
      if (until !== undefined && Math.ceil(until - at) === leftMs) this.#unsent.delete(name)
    }
  }
}

const outage = {
  began: "breakers: Redis does not answer; each node opens its breakers on its own until it does",
  over: "breakers: Redis answers again; nodes share their open breakers"
}

/** Applies an opening of another node. Random offsets spread the probes of the nodes, but none comes before the end of a pause. */
const apply = (hosts: ReadonlyMap<string, Host>, name: string, leftMs: number, now: number, chance: number): void => {
  const [kind, provider = "", ...model] = name.split(" ")
  const breaker = hosts.get(provider)?.breakerOf(model.join(" "))
  if (breaker === undefined) return
  const left = Math.min(leftMs, rules.longestPauseMs)
  const spread = Math.min(Math.max(left, rules.firstOpenMs), rules.longestOpenMs) * rules.jitter * chance
  if (kind === "paused") breaker.openUntil(now, now + left, true)
  else breaker.openUntil(now, now + left + spread, false)
}

/**
 * Sends this node's openings and applies those of others, twice a second until the scope closes. Returns at once. Each opening is
 * applied once, so a node that has since found the host healthy keeps calling it. Closings are not shared; an opening ends on other
 * nodes when its time is over. While Redis is down, each node uses what it knows and sends it afterwards.
 */
export const exchange: (
  url: Redacted.Redacted,
  hosts: ReadonlyMap<string, Host>,
  openings: Openings
) => Effect.Effect<void, never, Scope.Scope> = Effect.fnUntraced(function* (url, hosts, openings) {
  const [clock, random] = [yield* Clock.Clock, yield* Random.Random]
  /** When each opening last received ends, by Redis's clock. */
  let known = new Map<string, number>()
  const receive = (now: number, sent: ReadonlyMap<string, number>, redisNow: number, rows: ReadonlyArray<string>) => {
    const all = new Map<string, number>()
    for (let at = 0; at + 1 < rows.length; at += 2) {
      const [name, ends] = [rows[at]!, Number(rows[at + 1])]
      all.set(name, ends)
      const isOwn = sent.get(name) === ends - redisNow
      if (!isOwn && known.get(name) !== ends) apply(hosts, name, ends - redisNow, now, random.nextDoubleUnsafe())
    }
    known = all
  }
  const rounds = Effect.gen(function* () {
    const link = yield* makeRedisLink(url, outage)
    const round = Effect.suspend(() => {
      const now = millisOf(clock)
      const sent = openings.left(now)
      return Effect.map(
        link.attempt((redis) => redis.eval(exchangeScript)(sent)),
        (answer) => {
          if (answer === undefined) return
          openings.sent(sent, now)
          receive(now, sent, ...answer)
        }
      )
    })
    return yield* Effect.forever(Effect.andThen(round, Effect.sleep(INTERVAL)))
  })
  yield* Effect.forkScoped(rounds)
})
