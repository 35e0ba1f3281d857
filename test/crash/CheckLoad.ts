import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { audit } from "./Audit.ts"
import type { Account, Cluster } from "./Cluster.ts"
import type { Evidence } from "./Evidence.ts"
import type { Load } from "./Load.ts"
import { evidenceOf, untilNoHold } from "./Run.ts"

/** Waits until no hold is open, asserts that the audit finds no violation, and returns the evidence. */
export const checkLoad = (cluster: Cluster, load: Load, accounts: ReadonlyArray<Account>): Effect.Effect<Evidence> =>
  Effect.gen(function* () {
    yield* untilNoHold(cluster)
    const evidence = yield* evidenceOf(cluster, load, accounts)
    assert.deepStrictEqual(audit(evidence), [])
    return evidence
  })
