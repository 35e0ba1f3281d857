/** Nodes tell each other through Redis whom they have stopped calling, in the background: no request waits for it. */
import { Clock, Effect, Random, type Redacted, type Scope } from "effect"
import { Redis } from "effect/persistence"
import { millisOf } from "../platform/Monotonic.ts"
import { makeRedisLink } from "../platform/RedisLink.ts"
import { type Opening, rules } from "./Breaker.ts"
import type { Host } from "./Hosts.ts"

/** What one node finds out the others know after two of these at most; the shortest opening is three. */
const INTERVAL = "500 millis"
/** Openings in Redis, so also in one answer. Beyond it those that end first are forgotten. */
const MOST_SHARED = 1_000
/** Openings told at once; what is left goes with the next round. */
const MOST_TOLD = 500

const KEY = "tollgate:breakers"

/**
 * Sets what is told to last for so many milliseconds, never to end sooner than before, and answers all that is open, by Redis's
 * clock: nodes speak of what is left only. Nothing stays longer than its last opening.
 */
const exchanging = Redis.script(
  (told: ReadonlyMap<string, number>) => [KEY, MOST_SHARED, ...[...told].flatMap(([name, leftMs]) => [name, leftMs])],
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

/** Its name in Redis. Provider ids have no spaces in them. */
const nameOf = (kind: "open" | "paused", provider: string, model: string) => `${kind} ${provider} ${model}`

/** What this node has opened and not yet told; no more than two for each of its breakers. */
export class Openings {
  /** By name, until when. */
  readonly #untold = new Map<string, number>()

  /** Can be given away as it is. */
  readonly add = (provider: string, model: string, { pausedUntil, until }: Opening): void => {
    this.#untold.set(nameOf("open", provider, model), until)
    this.#untold.set(nameOf("paused", provider, model), pausedUntil)
  }

  /** Some of them, with the milliseconds that are left of each. */
  left(now: number): ReadonlyMap<string, number> {
    const left = new Map<string, number>()
    for (const [name, until] of this.#untold) {
      const leftMs = Math.ceil(until - now)
      if (leftMs <= 0) this.#untold.delete(name)
      else if (left.size < MOST_TOLD) left.set(name, leftMs)
    }
    return left
  }

  /** These were told at that time; one that was opened for longer since is still to be. */
  told(names: ReadonlyMap<string, number>, at: number): void {
    for (const [name, leftMs] of names) {
      const until = this.#untold.get(name)
      if (until !== undefined && Math.ceil(until - at) === leftMs) this.#untold.delete(name)
    }
  }
}

const outage = {
  began: "breakers: Redis does not answer, each node finds out for itself whom to leave alone until it does",
  over: "breakers: Redis answers again, nodes share whom to leave alone"
}

/** Opens what another node has. Nodes come back one after the other, but none before the end of a pause. */
const take = (hosts: ReadonlyMap<string, Host>, name: string, leftMs: number, now: number, chance: number): void => {
  const [kind, provider = "", ...model] = name.split(" ")
  const breaker = hosts.get(provider)?.breakerOf(model.join(" "))
  if (breaker === undefined) return
  const left = Math.min(leftMs, rules.longestPauseMs)
  const spread = Math.min(Math.max(left, rules.firstOpenMs), rules.longestOpenMs) * rules.jitter * chance
  if (kind === "paused") breaker.openUntil(now, now + left, true)
  else breaker.openUntil(now, now + left + spread, false)
}

/**
 * Tells what this node opens and takes over what others have opened, twice a second for as long as the scope is open. It returns at
 * once. An opening is taken over once: who has since found the host well is not kept from it. A closing is not shared; an opening
 * ends for others with its time. While Redis is away each node goes by what it knows, and tells it afterwards.
 */
export const exchange: (
  url: Redacted.Redacted,
  hosts: ReadonlyMap<string, Host>,
  openings: Openings
) => Effect.Effect<void, never, Scope.Scope> = Effect.fnUntraced(function* (url, hosts, openings) {
  const [clock, random] = [yield* Clock.Clock, yield* Random.Random]
  /** When what was last heard of ends, by Redis's clock. */
  let heard = new Map<string, number>()
  const hear = (asked: number, told: ReadonlyMap<string, number>, redisNow: number, rows: ReadonlyArray<string>) => {
    const all = new Map<string, number>()
    for (let at = 0; at + 1 < rows.length; at += 2) {
      const [name, ends] = [rows[at]!, Number(rows[at + 1])]
      all.set(name, ends)
      const own = told.get(name) === ends - redisNow
      if (!own && heard.get(name) !== ends) take(hosts, name, ends - redisNow, asked, random.nextDoubleUnsafe())
    }
    heard = all
  }
  const rounds = Effect.gen(function* () {
    const link = yield* makeRedisLink(url, outage)
    const round = Effect.suspend(() => {
      const asked = millisOf(clock)
      const told = openings.left(asked)
      return Effect.map(
        link.attempt((redis) => redis.eval(exchanging)(told)),
        (answer) => {
          if (answer === undefined) return
          openings.told(told, asked)
          hear(asked, told, ...answer)
        }
      )
    })
    return yield* Effect.forever(Effect.andThen(round, Effect.sleep(INTERVAL)))
  })
  yield* Effect.forkScoped(rounds)
})
