/** What a gateway must keep that is suspended or cut off from its database, for less and for more time than a hold lives. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { audit } from "./Audit.ts"
import { seenOf } from "./Case.ts"
import { emptyLoad, type Load, tryOnce } from "./Load.ts"
import { type Ask, HOLD_TTL_MS } from "./Notes.ts"
import { until } from "./Patience.ts"
import { evidenceOf, untilNoHold } from "./Run.ts"
import { type Account, plain, startWorld, type World } from "./World.ts"
import { plainAsk } from "./Workload.ts"

class Interruptible extends Context.Service<Interruptible, World>()("tollgate/test/Interruptible") {
  static readonly layer = Layer.effect(Interruptible, startWorld({ ...plain(2), partitions: true }))
}

const DOLLAR = 1_000_000_000n

/** Longer than a hold lives, and then some: another node has swept it by then. */
const LONG_MS = HOLD_TTL_MS + 2_500
/** Beyond the time in which a gateway that is told to stop takes requests, and less than a hold is waited for. */
const STOPPED_MS = 2_500
const SHORT_MS = HOLD_TTL_MS / 2 - 500

/** It would go on for 15 seconds. */
const longStream = (id: string, account: string, more: Partial<Ask> = {}) =>
  plainAsk(id, account, {
    stream: true,
    chunks: Array.from({ length: 50 }, (_, number) => `word${number} `),
    pauseMs: 300,
    ...more
  })

const causes: Readonly<Record<string, (world: World) => Effect.Effect<void>>> = {
  "says nothing": ({ gateways }) => gateways[0]!.partition(STOPPED_MS),
  "has ended": ({ database }) =>
    database.crash.pipe(Effect.andThen(Effect.sleep(STOPPED_MS)), Effect.andThen(database.start))
}

const asking = (world: World, load: Load, ask: Ask, account: Account) =>
  Effect.promise(() => {
    load.asks.push(ask)
    world.upstream.script(ask)
    return tryOnce(world, load, ask, { account, gateway: 0 })
  })

/** Interrupts gateway 0 in the midst of a stream, with a request at gateway 1 meanwhile. */
const streamThrough = (
  world: World,
  ask: (account: Account) => Ask,
  interruption: (world: World) => Effect.Effect<void>
) =>
  Effect.gen(function* () {
    const name = `interrupted-${++accounts}`
    const account = yield* world.open(name, DOLLAR)
    const load = emptyLoad()
    const mine = ask(account)
    const stream = yield* Effect.forkChild(asking(world, load, mine, account))
    const arrival = yield* Effect.promise(() => world.upstream.arrival(mine.id))
    yield* until(
      "some of the answer has come",
      Effect.sync(() => arrival.note().sent >= 5)
    )
    const broken = yield* Effect.forkChild(interruption(world))
    yield* Effect.sleep(100)
    const other = plainAsk(`beside-${mine.id}`, name)
    load.asks.push(other)
    world.upstream.script(other)
    const beside = yield* Effect.promise(() => tryOnce(world, load, other, { account, gateway: 1 }))
    assert.strictEqual(beside._tag === "Answered" ? beside.seen.status : beside._tag, 200)
    yield* Fiber.join(broken)
    yield* Fiber.join(stream)
    yield* untilNoHold(world)
    const all = yield* evidenceOf(world, load, [account])
    const asks = new Set(load.asks.map(({ id }) => id))
    const evidence = { ...all, calls: all.calls.filter((call) => asks.has(call.ask)) }
    assert.deepStrictEqual(audit(evidence), [])
    const one = evidence.tries.find((each) => each.ask === mine.id)
    const receipt = evidence.receipts.find(({ traceId }) => traceId === one?.traceId)
    const seen = one === undefined ? undefined : seenOf(one)
    if (one === undefined || receipt === undefined || seen === undefined) return assert.fail("it left no trace")
    return { one, receipt, seen, sent: arrival.note().sent }
  })

let accounts = 0

layer(Interruptible.layer, { excludeTestServices: true, timeout: 60_000 })("an interrupted gateway", (it) => {
  it.effect("serves a stream to its end after it was suspended for less than a hold lives", () =>
    Effect.gen(function* () {
      const world = yield* Interruptible
      const ask = ({ name }: Account) => longStream("short-pause", name, { chunks: Array(20).fill("sea ") })
      const { receipt, seen } = yield* streamThrough(world, ask, ({ gateways }) => gateways[0]!.pause(SHORT_MS))
      assert.deepStrictEqual([seen.whole, receipt.status], [true, "succeeded"])
    })
  )

  it.effect("serves a stream to its end after it was cut off for less than a hold lives", () =>
    Effect.gen(function* () {
      const world = yield* Interruptible
      const ask = ({ name }: Account) => longStream("short-cut", name, { chunks: Array(20).fill("sea ") })
      const { receipt, seen } = yield* streamThrough(world, ask, ({ gateways }) => gateways[0]!.partition(SHORT_MS))
      assert.deepStrictEqual([seen.whole, receipt.status], [true, "succeeded"])
    })
  )

  it.effect("gives a stream nothing more when it wakes after the stream's hold has ended", () =>
    Effect.gen(function* () {
      const world = yield* Interruptible
      const ask = ({ name }: Account) => longStream("long-pause", name)
      const { receipt, seen } = yield* streamThrough(world, ask, ({ gateways }) => gateways[0]!.pause(LONG_MS))
      assert.strictEqual(receipt.errorCode, "request_expired")
      assert.strictEqual(receipt.settled, receipt.progress)
      assert.isFalse(seen.whole)
      assert.notInclude(seen.content, "word45 ")
    })
  )

  for (const stream of [true, false]) {
    it.effect(
      `calls no provider for a ${stream ? "stream" : "whole answer"} whose hold ended before its gateway read the grant`,
      () =>
        Effect.gen(function* () {
          const world = yield* Interruptible
          const name = `read-late-${stream}`
          const account = yield* world.open(name, DOLLAR)
          const load = emptyLoad()
          // From then on the gateway knows the key.
          yield* asking(world, load, plainAsk(`before-${name}`, name), account)
          const gateway = world.gateways[0]!
          const cut = yield* Effect.forkChild(gateway.partition(1_500, "answers"))
          yield* Effect.sleep(100)
          const ask = plainAsk(name, name, { stream })
          const asked = yield* Effect.forkChild(asking(world, load, ask, account))
          yield* until(
            "it has a hold",
            Effect.map(world.openHolds, (open) => open === 1)
          )
          // The hold is granted while the gateway cannot read so, and ends while it does not run.
          yield* gateway.pause(LONG_MS)
          yield* Fiber.join(cut)
          const ending = yield* Fiber.join(asked)
          yield* untilNoHold(world)
          const all = yield* evidenceOf(world, load, [account])
          const calls = all.calls.filter((call) => load.asks.some(({ id }) => id === call.ask))
          assert.deepStrictEqual(audit({ ...all, calls }), [])
          assert.deepStrictEqual(
            calls.map((call) => call.ask),
            [`before-${name}`]
          )
          const seen = ending._tag === "Answered" ? ending.seen : undefined
          assert.deepStrictEqual([seen?.status, seen?.code], [504, "request_expired"])
        })
    )
  }

  for (const [away, cause] of Object.entries(causes)) {
    it.effect(`answers what waits for a database that ${away} when it is told to stop`, () =>
      Effect.gen(function* () {
        const world = yield* Interruptible
        const name = `told-to-stop-${++accounts}`
        const account = yield* world.open(name, DOLLAR)
        const load = emptyLoad()
        yield* asking(world, load, plainAsk(`before-${name}`, name), account)
        const cut = yield* Effect.forkChild(cause(world))
        yield* Effect.sleep(100)
        const asks = [true, false].map((stream) => plainAsk(`${name}-${stream}`, name, { stream }))
        const asked = yield* Effect.forkChild(
          Effect.forEach(asks, (ask) => asking(world, load, ask, account), { concurrency: "unbounded" })
        )
        yield* Effect.sleep(100)
        yield* world.gateways[0]!.deploy
        yield* Fiber.join(cut)
        const endings = yield* Fiber.join(asked)
        // A hold is waited for a moment; the stop cuts nothing off.
        for (const ending of endings) {
          assert.include([200, 503], ending._tag === "Answered" ? ending.seen.status : ending._tag)
        }
        yield* untilNoHold(world)
        const all = yield* evidenceOf(world, load, [account])
        const calls = all.calls.filter((call) => load.asks.some(({ id }) => id === call.ask))
        assert.deepStrictEqual(audit({ ...all, calls }), [])
      })
    )
  }

  it.effect("ends a stream with its hold while it is cut off, and not later", () =>
    Effect.gen(function* () {
      const world = yield* Interruptible
      const ask = ({ name }: Account) => longStream("long-cut", name)
      const { receipt, seen, sent } = yield* streamThrough(world, ask, ({ gateways }) =>
        gateways[0]!.partition(LONG_MS)
      )
      assert.strictEqual(receipt.errorCode, "request_expired")
      assert.strictEqual(receipt.settled, receipt.progress)
      assert.deepStrictEqual([seen.whole, seen.code], [false, "request_expired"])
      // The provider is let go of as well.
      assert.isBelow(sent, 50)
    })
  )
})
