/** Gateways that are suspended or cut off from the database, for less and for more than the life of a hold. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { checkLoad } from "./CheckLoad.ts"
import { answerOf } from "./EvidenceIndex.ts"
import { emptyLoad, sendNew } from "./Load.ts"
import { HOLD_TTL_MS, type Operation } from "./Evidence.ts"
import { until } from "../support/Until.ts"
import { type Account, type Cluster, gatewaysOnly, startCluster } from "./Cluster.ts"
import { plainOperation } from "./Workload.ts"

class Interruptible extends Context.Service<Interruptible, Cluster>()("tollgate/test/Interruptible") {
  static readonly layer = Layer.effect(Interruptible, startCluster({ ...gatewaysOnly(2), partitions: true }))
}

const DOLLAR = 1_000_000_000n

/** Longer than the life of a hold, so that the other gateway sweeps it. */
const LONG_MS = HOLD_TTL_MS + 2_500
/** Longer than the shutdown delay, and shorter than a gateway waits for a hold. */
const STOPPED_MS = 2_500
const SHORT_MS = HOLD_TTL_MS / 2 - 500

/** A stream of 15 seconds. */
const longStream = (id: string, account: string, more: Partial<Operation> = {}) =>
  plainOperation(id, account, {
    stream: true,
    chunks: Array.from({ length: 50 }, (_, number) => `word${number} `),
    pauseMs: 300,
    ...more
  })

const causes: Readonly<Record<string, (cluster: Cluster) => Effect.Effect<void>>> = {
  hangs: ({ gateways }) => gateways[0]!.partition(STOPPED_MS),
  "is down": ({ database }) =>
    database.crash.pipe(Effect.andThen(Effect.sleep(STOPPED_MS)), Effect.andThen(database.start))
}

/** Interrupts gateway 0 during a stream, and sends a request to gateway 1 meanwhile. */
const streamThrough = (
  cluster: Cluster,
  operation: (account: Account) => Operation,
  interruption: (cluster: Cluster) => Effect.Effect<void>
) =>
  Effect.gen(function* () {
    const name = `interrupted-${++accounts}`
    const account = yield* cluster.open(name, DOLLAR)
    const load = emptyLoad()
    const mine = operation(account)
    const stream = yield* Effect.forkChild(sendNew(cluster, load, mine, { account, gateway: 0 }))
    const arrival = yield* Effect.promise(() => cluster.upstream.arrival(mine.id))
    yield* until(
      "some of the answer has arrived",
      Effect.sync(() => arrival.record().sent >= 5)
    )
    const broken = yield* Effect.forkChild(interruption(cluster))
    yield* Effect.sleep(100)
    const other = plainOperation(`beside-${mine.id}`, name)
    const beside = yield* sendNew(cluster, load, other, { account, gateway: 1 })
    assert.strictEqual(beside._tag === "Answered" ? beside.answer.status : beside._tag, 200)
    yield* Fiber.join(broken)
    yield* Fiber.join(stream)
    const evidence = yield* checkLoad(cluster, load, [account])
    const one = evidence.attempts.find((each) => each.operation === mine.id)
    const receipt = evidence.receipts.find(({ traceId }) => traceId === one?.traceId)
    const answer = one === undefined ? undefined : answerOf(one)
    if (one === undefined || receipt === undefined || answer === undefined)
      return assert.fail("the stream has no attempt, receipt or answer")
    return { one, receipt, answer, sent: arrival.record().sent }
  })

let accounts = 0

layer(Interruptible.layer, { excludeTestServices: true, timeout: 60_000 })("an interrupted gateway", (it) => {
  it.effect("completes a stream after a pause shorter than the life of a hold", () =>
    Effect.gen(function* () {
      const cluster = yield* Interruptible
      const operation = ({ name }: Account) => longStream("short-pause", name, { chunks: Array(20).fill("sea ") })
      const { receipt, answer } = yield* streamThrough(cluster, operation, ({ gateways }) =>
        gateways[0]!.pause(SHORT_MS)
      )
      assert.deepStrictEqual([answer.complete, receipt.status], [true, "succeeded"])
    })
  )

  it.effect("completes a stream after a partition shorter than the life of a hold", () =>
    Effect.gen(function* () {
      const cluster = yield* Interruptible
      const operation = ({ name }: Account) => longStream("short-cut", name, { chunks: Array(20).fill("sea ") })
      const { receipt, answer } = yield* streamThrough(cluster, operation, ({ gateways }) =>
        gateways[0]!.partition(SHORT_MS)
      )
      assert.deepStrictEqual([answer.complete, receipt.status], [true, "succeeded"])
    })
  )

  it.effect("sends no more content when it resumes after the stream's hold expired", () =>
    Effect.gen(function* () {
      const cluster = yield* Interruptible
      const operation = ({ name }: Account) => longStream("long-pause", name)
      const { receipt, answer } = yield* streamThrough(cluster, operation, ({ gateways }) =>
        gateways[0]!.pause(LONG_MS)
      )
      assert.strictEqual(receipt.errorCode, "request_expired")
      assert.strictEqual(receipt.settled, receipt.progress)
      assert.isFalse(answer.complete)
      assert.notInclude(answer.content, "word45 ")
    })
  )

  for (const stream of [true, false]) {
    it.effect(
      `calls no provider for a ${stream ? "stream" : "whole answer"} whose hold expired before the gateway read the grant`,
      () =>
        Effect.gen(function* () {
          const cluster = yield* Interruptible
          const name = `read-late-${stream}`
          const account = yield* cluster.open(name, DOLLAR)
          const load = emptyLoad()
          // Makes the gateway cache the key.
          yield* sendNew(cluster, load, plainOperation(`before-${name}`, name), { account, gateway: 0 })
          const gateway = cluster.gateways[0]!
          const cut = yield* Effect.forkChild(gateway.partition(1_500, "answers"))
          yield* Effect.sleep(100)
          const operation = plainOperation(name, name, { stream })
          const asked = yield* Effect.forkChild(sendNew(cluster, load, operation, { account, gateway: 0 }))
          yield* until(
            "the request has a hold",
            Effect.map(cluster.openHolds, (open) => open === 1)
          )
          // The partition hides the grant from the gateway, and the hold expires during the pause.
          yield* gateway.pause(LONG_MS)
          yield* Fiber.join(cut)
          const outcome = yield* Fiber.join(asked)
          const { calls } = yield* checkLoad(cluster, load, [account])
          assert.deepStrictEqual(
            calls.map((call) => call.operation),
            [`before-${name}`]
          )
          const answer = outcome._tag === "Answered" ? outcome.answer : undefined
          assert.deepStrictEqual([answer?.status, answer?.code], [504, "request_expired"])
        })
    )
  }

  for (const [away, cause] of Object.entries(causes)) {
    it.effect(`answers requests that wait for a database that ${away} after SIGTERM`, () =>
      Effect.gen(function* () {
        const cluster = yield* Interruptible
        const name = `stopped-${++accounts}`
        const account = yield* cluster.open(name, DOLLAR)
        const load = emptyLoad()
        yield* sendNew(cluster, load, plainOperation(`before-${name}`, name), { account, gateway: 0 })
        const cut = yield* Effect.forkChild(cause(cluster))
        yield* Effect.sleep(100)
        const operations = [true, false].map((stream) => plainOperation(`${name}-${stream}`, name, { stream }))
        const asked = yield* Effect.forkChild(
          Effect.forEach(operations, (operation) => sendNew(cluster, load, operation, { account, gateway: 0 }), {
            concurrency: "unbounded"
          })
        )
        yield* Effect.sleep(100)
        yield* cluster.gateways[0]!.deploy
        yield* Fiber.join(cut)
        const outcomes = yield* Fiber.join(asked)
        // The gateway waits a moment for a hold, and the stop breaks off nothing.
        for (const outcome of outcomes) {
          assert.include([200, 503], outcome._tag === "Answered" ? outcome.answer.status : outcome._tag)
        }
        yield* checkLoad(cluster, load, [account])
      })
    )
  }

  it.effect("ends a stream at its hold's expiry during a partition", () =>
    Effect.gen(function* () {
      const cluster = yield* Interruptible
      const operation = ({ name }: Account) => longStream("long-cut", name)
      const { receipt, answer, sent } = yield* streamThrough(cluster, operation, ({ gateways }) =>
        gateways[0]!.partition(LONG_MS)
      )
      assert.strictEqual(receipt.errorCode, "request_expired")
      assert.strictEqual(receipt.settled, receipt.progress)
      assert.deepStrictEqual([answer.complete, answer.code], [false, "request_expired"])
      // The gateway also disconnected from the provider.
      assert.isBelow(sent, 50)
    })
  )
})
