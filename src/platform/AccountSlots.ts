/**
 * Limits parallel work of one kind on this node, in all and per account. Work for which no slot is free is not queued, so that it does
 * not block workers for other kinds.
 */
import { Effect } from "effect"

interface AccountSlotsOptions {
  readonly slots: number
  /** The maximum number of slots per account. */
  readonly perAccount: number
}

export interface AccountSlots {
  /** Runs the work in a slot. When no slot is free for this account, runs the alternative at once. */
  readonly within: <A, E, R>(
    accountId: string,
    work: Effect.Effect<A, E, R>,
    none: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R>
}

export const makeAccountSlots = ({ perAccount, slots }: AccountSlotsOptions): AccountSlots => {
  const inUse = new Map<string, number>()
  let all = 0
  const take = (accountId: string): boolean => {
    const own = inUse.get(accountId) ?? 0
    if (all >= slots || own >= perAccount) return false
    all += 1
    inUse.set(accountId, own + 1)
    return true
  }
  const leave = (accountId: string): void => {
    const own = inUse.get(accountId) ?? 0
    all -= 1
    if (own > 1) inUse.set(accountId, own - 1)
    else inUse.delete(accountId)
  }
  return {
    within: (accountId, work, none) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.suspend(() =>
          take(accountId)
            ? Effect.ensuring(
                restore(work),
                Effect.sync(() => leave(accountId))
              )
            : restore(none)
        )
      )
  }
}
