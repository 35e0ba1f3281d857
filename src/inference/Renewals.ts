import { Effect, type Scope } from "effect"
import { type Admitted, extendHold, type MeteredOptions } from "./Metered.ts"

/** Of a hold's life, how often is looked for holds to renew, and after how many such looks one is renewed. */
const LOOKS_PER_TTL = 12
const LOOKS_PER_RENEWAL = 3

/** The holds whose requests are being carried out. */
export interface Renewals {
  /** Has its expiry put off again and again, at least once in a third of its life, until it is dropped. */
  readonly add: (admitted: Admitted) => void
  readonly drop: (admitted: Admitted) => void
}

/** One fiber renews for all requests: most end long before their hold has to be renewed, and a timer each would be in vain. */
export const makeRenewals = (options: MeteredOptions): Effect.Effect<Renewals, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const renewedAt = new Map<Admitted, number>()
    let look = 0
    const renewDue = Effect.suspend(() => {
      look += 1
      const due = [...renewedAt].filter(([, at]) => look - at >= LOOKS_PER_RENEWAL)
      return Effect.forEach(
        due,
        ([admitted]) => {
          renewedAt.set(admitted, look)
          // A database that cannot be reached for one must not keep the others waiting.
          return Effect.forkIn(extendHold(options, admitted, 0n), scope)
        },
        { discard: true }
      )
    })
    const pause = Effect.sleep(options.holdTtlMs / LOOKS_PER_TTL)
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(pause, renewDue)))
    return {
      add: (admitted) => void renewedAt.set(admitted, look),
      drop: (admitted) => void renewedAt.delete(admitted)
    }
  })
