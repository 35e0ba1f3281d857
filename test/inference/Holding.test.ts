import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Principal } from "../../schemas/Access.ts"
import { failure } from "../../src/domain/Failure.ts"
import { type Holder, placeHold } from "../../src/inference/Holding.ts"
import type { HoldResult } from "../../src/ledger/Operation.ts"
import { Metrics } from "../../src/platform/telemetry/Metrics.ts"
import { Unavailable } from "../../src/platform/database/Sql.ts"

const caller: Principal = {
  keyId: "k",
  accountId: "a",
  projectId: null,
  kind: "inference",
  scopes: [],
  limitScale: 1,
  budgets: [],
  budgetsEpoch: 0
}

const granted: HoldResult = { _tag: "Granted", granted: 1n }
const changed: HoldResult = { _tag: "KeyChanged" }

/** Places a hold that gets these results in order; every reload of the key returns another budget in another project. */
const scene = (
  answers: ReadonlyArray<HoldResult>,
  { routing, ...begun }: Pick<Principal, "routing"> & { readonly routedAsBegun?: true } = {}
) =>
  Effect.gen(function* () {
    const tried: Array<Holder> = []
    let reads = 0
    const again = () =>
      Effect.sync((): Principal => {
        reads++
        const budgets = [{ id: `b${reads}`, scope: "project", period: "lifetime" }] as const
        const now = { ...caller, budgets, budgetsEpoch: reads, projectId: `p${reads}` }
        return routing === undefined ? now : { ...now, routing }
      })
    const result = yield* Effect.result(
      placeHold({ auth: { again }, metrics: yield* Metrics }, { principal: caller, ...begun }, (holder) =>
        Effect.sync(() => {
          tried.push(holder)
          return answers[tried.length - 1] ?? changed
        })
      )
    )
    return { result, tried, reads: () => reads }
  })

describe("placeHold", () => {
  it.effect("makes one attempt when the cached key is current", () =>
    Effect.gen(function* () {
      const { reads, result, tried } = yield* scene([granted])
      assert.deepStrictEqual(result._tag === "Success" && result.success, granted)
      assert.deepStrictEqual(tried, [{ accountId: "a", keyId: "k", projectId: null, budgetsEpoch: 0, budgets: [] }])
      assert.strictEqual(reads(), 0)
    })
  )

  it.effect("retries with the current key after a change", () =>
    Effect.gen(function* () {
      const { result, tried } = yield* scene([changed, changed, granted])
      assert.deepStrictEqual(result._tag === "Success" && result.success, granted)
      assert.deepStrictEqual(
        tried.map(({ budgets, budgetsEpoch, projectId }) => [budgetsEpoch, projectId, budgets]),
        [
          [0, null, []],
          [1, "p1", [{ budgetId: "b1", periodStart: "1970-01-01" }]],
          [2, "p2", [{ budgetId: "b2", periodStart: "1970-01-01" }]]
        ]
      )
    })
  )

  it.effect("fails when the key's routing has changed, so that the request is planned again, unless it has begun", () =>
    Effect.gen(function* () {
      const routing = { data_policy: "zero_retention" } as const
      const { result, tried } = yield* scene([changed, granted], { routing })
      assert.strictEqual(result._tag === "Failure" && result.failure.reason._tag, "StoreUnavailable")
      assert.lengthOf(tried, 1)
      const begun = yield* scene([changed, granted], { routing, routedAsBegun: true })
      assert.deepStrictEqual(begun.result._tag === "Success" && begun.result.success, granted)
    })
  )

  it.effect("fails when the key keeps changing, is gone, or cannot be read", () =>
    Effect.gen(function* () {
      const { result, tried } = yield* scene([])
      assert.strictEqual(result._tag === "Failure" && result.failure.reason._tag, "StoreUnavailable")
      assert.lengthOf(tried, 5)
      const gone = placeHold(
        { auth: { again: () => Effect.fail(failure({ _tag: "InvalidApiKey" })) }, metrics: yield* Metrics },
        { principal: caller },
        () => Effect.succeed(changed)
      )
      assert.strictEqual((yield* Effect.flip(gone)).reason._tag, "InvalidApiKey")
      const away = placeHold(
        { auth: { again: () => Effect.die("never") }, metrics: yield* Metrics },
        { principal: caller },
        () => Effect.fail(new Unavailable({ store: "database" }))
      )
      assert.strictEqual((yield* Effect.flip(away)).reason._tag, "StoreUnavailable")
    })
  )
})
