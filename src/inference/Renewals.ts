import { Effect, type Scope } from "effect"
import { type ActiveEntry, ActiveSet } from "../platform/ActiveSet.ts"
import { type AdmittedRequest, extendHold, type AdmissionOptions } from "./Admission.ts"

/** The number of checks for holds to renew per lifetime of a hold, and the number of checks after which a hold is renewed. */
const LOOKS_PER_TTL = 12
const LOOKS_PER_RENEWAL = 3

/** The holds of running requests. */
export interface Renewals {
  /**
   * Renews a hold repeatedly, at least once per third of its lifetime, until it is dropped. What goes on under a hold that could not be
   * renewed for all of its lifetime is stopped.
   */
  readonly add: (admitted: AdmittedRequest) => RenewalEntry
  readonly drop: (renewed: RenewalEntry) => void
}

interface RenewedHold {
  readonly admitted: AdmittedRequest
  /** The check at which it was added or renewed. */
  renewedAt: number
}

/** A hold that is renewed until it is dropped. */
export type RenewalEntry = ActiveEntry<RenewedHold>

/**
 * One fiber renews the holds of all requests. Most requests end long before their hold needs a renewal, so a timer for each would be
 * wasted.
 */
export const makeRenewals = (options: AdmissionOptions): Effect.Effect<Renewals, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const held = new ActiveSet<RenewedHold>()
    let look = 0
    const renewDue = Effect.suspend(() => {
      look += 1
      // A suspended process, or one without its database, has renewed nothing. Another node may have ended the hold by now.
      const now = performance.now()
      for (const { admitted } of held.members) if (now > admitted.heldUntil) admitted.lapse?.()
      const due = held.members.filter(({ renewedAt }) => look - renewedAt >= LOOKS_PER_RENEWAL)
      return Effect.forEach(
        due,
        (one) => {
          one.renewedAt = look
          // A database that is unreachable for one hold must not delay the others.
          return Effect.forkIn(extendHold(options, one.admitted, 0n), scope)
        },
        { discard: true }
      )
    })
    const pause = Effect.sleep(options.holdTtlMs / LOOKS_PER_TTL)
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(pause, renewDue)))
    return {
      add: (admitted) => held.add({ admitted, renewedAt: look }),
      drop: (renewed) => held.remove(renewed)
    }
  })
