import { maxNano, type Nano, formatUsd, NANO_PER_USD } from "./Money.ts"

/** An account's money, of both kinds together. */
export interface Balance {
  readonly posted: Nano
  readonly held: Nano
  /** The part that is simulated money, which a sandbox made; absent when there is none. */
  readonly play?: { readonly posted: Nano; readonly held: Nano }
}

/** Returns the money available to a new hold. Simulated money can pay only when every possible provider is simulated. */
export const availableTo = ({ held, play, posted }: Balance, simulated: boolean): Nano => {
  const playful = play === undefined ? 0n : play.posted - play.held
  const real = posted - held - playful
  return simulated && playful > real ? playful : real
}

/** Whether simulated money would pay for a request that doubles alone can serve: the ledger's rule, applied before the hold. */
export const playPays = (
  { held, play, posted }: Balance,
  { atLeast, upTo }: { readonly atLeast: Nano; readonly upTo: Nano }
): boolean => {
  if (play === undefined || play.posted === 0n) return false
  const playful = play.posted - play.held
  return playful >= maxNano(atLeast, upTo) || (playful >= atLeast && posted - held - playful < atLeast)
}

/** The balance below which responses carry a warning and the owner is notified, in nano-USD. */
export const LOW_BALANCE = 5n * NANO_PER_USD

/** The warning for a balance below $5.00; undefined for a higher one. */
export const balanceWarning = (posted: Nano): string | undefined =>
  posted < LOW_BALANCE ? `Your balance is ${formatUsd(posted)}, below ${formatUsd(LOW_BALANCE)}` : undefined
