import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { recordSpan } from "../../src/ledger/LedgerSpan.ts"
import type { AnyResult, ConcludeOperation, ConcludeResult, Operation } from "../../src/ledger/Operation.ts"
import { recordSpans } from "../support/Spans.ts"

/** What an operation with this answer is recorded as, below a request's span. */
const span = <E>(operation: Operation | ConcludeOperation, answer: Effect.Effect<AnyResult | ConcludeResult, E>) =>
  Effect.gen(function* () {
    const { spans, tracing } = recordSpans()
    const parent = tracing.server(undefined, undefined)!
    const exit = yield* Effect.exit(recordSpan(answer, operation, parent))
    const [only, ...more] = spans
    assert.isEmpty(more)
    assert.strictEqual(only?.parentSpanId, parent.context.spanId)
    return { name: only!.name, failed: only!.failed, attributes: only!.attributes, exit }
  })

const subject = { requestId: "req_1", accountId: "account" }
const hold: Operation = {
  _tag: "Hold",
  ...subject,
  keyId: "key",
  projectId: null,
  operation: "chat",
  model: "m",
  atLeast: 5n,
  upTo: 9n,
  ttlMs: 1,
  budgets: [],
  budgetsEpoch: 0,
  opened: {},
  claim: undefined,
  charge: false
}
const close = (cost: bigint | undefined): Operation => ({
  _tag: "Close",
  ...subject,
  settle: cost === undefined ? undefined : { cost },
  onlyIfExpired: false,
  status: "succeeded",
  keepClaim: false,
  resolvedModel: null,
  provider: null,
  closed: {},
  answer: null
})

describe("a movement of money", () => {
  it.effect("is a span with its request and its answer", () =>
    Effect.gen(function* () {
      const granted = yield* span(hold, Effect.succeed({ _tag: "Granted", granted: 7n }))
      assert.strictEqual(granted.name, "ledger.hold")
      assert.deepStrictEqual(granted.attributes, {
        "svc.hold.at_least_nano_usd": 5,
        "svc.hold.up_to_nano_usd": 9,
        "svc.outcome": "granted",
        "svc.hold.granted_nano_usd": 7
      })
      const no = { _tag: "Refused", limitSource: "balance", available: 1n, posted: 1n } as const
      const refused = yield* span(hold, Effect.succeed(no))
      assert.include(refused.attributes, { "svc.outcome": "refused", "svc.limit_source": "balance" })
      assert.isFalse(refused.failed)
    })
  )

  it.effect("is named after its operation", () =>
    Effect.gen(function* () {
      const closed: AnyResult = { _tag: "Closed", settled: 4n, absorbed: 1n, posted: 0n, held: 0n }
      const settle = yield* span(close(5n), Effect.succeed(closed))
      assert.strictEqual(settle.name, "ledger.settle")
      assert.include(settle.attributes, {
        "svc.settle.cost_nano_usd": 5,
        "svc.settle.settled_nano_usd": 4,
        "svc.settle.absorbed_nano_usd": 1,
        "svc.status": "succeeded"
      })
      assert.strictEqual((yield* span(close(undefined), Effect.succeed(closed))).name, "ledger.release")
      const conclusion: ConcludeOperation = {
        ...subject,
        refund: 2n,
        status: "succeeded",
        keepClaim: false,
        resolvedModel: null,
        provider: null,
        closed: {},
        answer: null
      }
      const concluded = yield* span(conclusion, Effect.succeed({ _tag: "Concluded", cost: 3n, posted: 9n }))
      assert.strictEqual(concluded.name, "ledger.conclude")
      assert.deepStrictEqual(concluded.attributes, {
        "svc.refund_nano_usd": 2,
        "svc.status": "succeeded",
        "svc.outcome": "concluded",
        "svc.cost_nano_usd": 3
      })
      const extend: Operation = { _tag: "Extend", ...subject, held: 3n, more: 2n, progress: 1n, ttlMs: 1 }
      const extended = yield* span(extend, Effect.succeed({ _tag: "Extended" }))
      assert.strictEqual(extended.name, "ledger.extend")
      assert.include(extended.attributes, { "svc.hold.held_nano_usd": 3, "svc.hold.more_nano_usd": 2 })
      const credit: Operation = { _tag: "Credit", accountId: "a", amount: 8n, source: "grants", reference: null }
      const moved = yield* span(credit, Effect.succeed({ _tag: "Moved", posted: 8n, held: 0n }))
      assert.deepStrictEqual([moved.name, moved.attributes["svc.amount_nano_usd"]], ["ledger.credit", 8])
    })
  )

  it.effect("that fails has a failed span and the same failure", () =>
    Effect.gen(function* () {
      const { attributes, exit, failed } = yield* span(hold, Effect.fail("away"))
      assert.isTrue(failed)
      assert.include(attributes, { "svc.outcome": "unavailable", "error.type": "Unavailable" })
      assert.strictEqual(exit._tag, "Failure")
    })
  )
})
