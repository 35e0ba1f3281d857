import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { AdmittedRequest, AdmissionOptions } from "../../src/inference/Admission.ts"
import { makeRenewals } from "../../src/inference/Renewals.ts"

const TTL_MS = 12_000

const admitted = (requestId: string) =>
  ({
    request: { requestId, principal: { accountId: "a" } },
    held: 5n,
    progress: () => 3n
  }) as unknown as AdmittedRequest

/** Renewals over a ledger that records its operations, and never answers for the request `stuck`. */
const noting = Effect.gen(function* () {
  const noted: Array<string> = []
  const ledger = {
    commit: (operation: { readonly requestId: string; readonly progress: bigint; readonly ttlMs: number }) => {
      noted.push(`${operation.requestId} ${operation.progress} ${operation.ttlMs}`)
      return operation.requestId === "stuck" ? Effect.never : Effect.succeed({ _tag: "Extended" })
    }
  }
  const renewals = yield* makeRenewals({ ledger, holdTtlMs: TTL_MS } as unknown as AdmissionOptions)
  return { noted, renewals }
})

describe("Renewals", () => {
  it.effect("renew a hold once per third of its lifetime, with its progress, until it is dropped", () =>
    Effect.gen(function* () {
      const { noted, renewals } = yield* noting
      const one = renewals.add(admitted("one"))
      yield* TestClock.adjust(TTL_MS / 3)
      assert.deepStrictEqual(noted, [`one 3 ${TTL_MS}`])
      yield* TestClock.adjust(TTL_MS)
      assert.isAtLeast(noted.length, 4)
      renewals.drop(one)
      noted.length = 0
      yield* TestClock.adjust(TTL_MS * 2)
      assert.deepStrictEqual(noted, [])
    }).pipe(Effect.scoped)
  )

  it.effect("renew other holds while the database does not answer for one, and end with their scope", () =>
    Effect.gen(function* () {
      const noted = yield* Effect.scoped(
        Effect.gen(function* () {
          const { noted, renewals } = yield* noting
          for (const name of ["stuck", "other"]) renewals.add(admitted(name))
          yield* TestClock.adjust(TTL_MS)
          return noted
        })
      )
      assert.isAtLeast(noted.filter((line) => line.startsWith("other ")).length, 3)
      noted.length = 0
      yield* TestClock.adjust(TTL_MS)
      assert.deepStrictEqual(noted, [])
    })
  )

  it.effect("do not renew the hold of a short request", () =>
    Effect.gen(function* () {
      const { noted, renewals } = yield* noting
      for (let n = 0; n < 100; n++) {
        const short = renewals.add(admitted(`short ${n}`))
        yield* TestClock.adjust(TTL_MS / 10)
        renewals.drop(short)
      }
      assert.deepStrictEqual(noted, [])
    }).pipe(Effect.scoped)
  )
})
