import { Effect, type Scope } from "effect"
import { type Place, Roster } from "../platform/Roster.ts"
import { type Admitted, extendHold, type MeteredOptions } from "./Metered.ts"

/** Of a hold's life, how often is looked for holds to renew, and after how many such looks one is renewed. */
const LOOKS_PER_TTL = 12
const LOOKS_PER_RENEWAL = 3

/** The holds whose requests are being carried out. */
export interface Renewals {
  /** Has its expiry put off again and again, at least once in a third of its life, until it is dropped. */
  readonly add: (admitted: Admitted) => Renewed
  readonly drop: (renewed: Renewed) => void
}

interface Held {
  readonly admitted: Admitted
  /** The look at which it was added or renewed. */
  renewedAt: number
}

/** A hold that is renewed until it is dropped. */
export type Renewed = Place<Held>

/** One fiber renews for all requests: most end long before their hold has to be renewed, and a timer each would be in vain. */
export const makeRenewals = (options: MeteredOptions): Effect.Effect<Renewals, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const held = new Roster<Held>()
    let look = 0
    const renewDue = Effect.suspend(() => {
      look += 1
      const due = held.members.filter(({ renewedAt }) => look - renewedAt >= LOOKS_PER_RENEWAL)
      return Effect.forEach(
        due,
        (one) => {
          one.renewedAt = look
          // A database that cannot be reached for one must not keep the others waiting.
          return Effect.forkIn(extendHold(options, one.admitted, 0n), scope)
        },
        { discard: true }
      )
    })
    const pause = Effect.sleep(options.holdTtlMs / LOOKS_PER_TTL)
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(pause, renewDue)))
    return {
      add: (admitted) => held.join({ admitted, renewedAt: look }),
      drop: (renewed) => held.leave(renewed)
    }
  })
