import { assert, describe, it } from "@effect/vitest"
import { Cause, Exit } from "effect"
import type { Candidate } from "../../src/domain/Plan.ts"
import { defaultPolicy } from "../../src/domain/Plan.ts"
import { failureOfPool, keptRefusal, unserved } from "../../src/inference/PaidFlow.ts"
import { PoolError } from "../../src/providers/pool/PoolError.ts"

const planned = (dataPolicy: "default" | "zero_retention") => ({
  plan: { requestedModels: ["m"], policy: { ...defaultPolicy, dataPolicy }, candidates: [{} as Candidate] as const }
})

const reason = { _tag: "ProviderRefused", provider: "p", detail: "no" } as const
const error = new PoolError({
  reason,
  attempts: [{ provider: "p", model: "m", outcome: "failed", index: 0 }],
  failures: [{ provider: "p", model: "m", fault: undefined }]
})

const failed = (cause: Cause.Cause<PoolError>) => {
  const exit: Exit.Exit<never, PoolError> = Exit.failCause(cause)
  return Exit.isFailure(exit) ? unserved(exit, { stopsBillingOnAbort: true }) : assert.fail("it served")
}

describe("the flow of paid requests", () => {
  it("stores a refusal, and logs providers' messages, only when content may be stored", () => {
    assert.deepStrictEqual(keptRefusal(planned("default"), reason), { _tag: "Refusal", reason })
    assert.isNull(keptRefusal(planned("zero_retention"), reason))
    assert.isNull(keptRefusal(planned("default"), undefined))
    assert.deepInclude(failureOfPool(planned("default"), error), { reason, log: error.failures })
    assert.isUndefined(failureOfPool(planned("zero_retention"), error).log)
  })

  it("distinguishes a failure from a defect and from a disconnect", () => {
    assert.deepStrictEqual(failed(Cause.fail(error)), {
      outcome: { _tag: "Nothing", error: reason },
      failures: error.attempts
    })
    assert.deepStrictEqual(failed(Cause.die(new Error("a bug"))).outcome, {
      _tag: "Nothing",
      error: { _tag: "InternalError" }
    })
    assert.deepStrictEqual(failed(Cause.interrupt()).outcome, { _tag: "Nothing", error: undefined })
  })
})
