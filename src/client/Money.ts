/** Converts amounts of the API, which are numbers of US dollars, to whole nano-dollars, which add up without rounding. */

const NANO = 1_000_000_000

/** Returns an amount in units of 1e-9 dollars. Exact for every amount of the API up to nine million dollars. */
export const nanoFromUsd = (usd: number): bigint => BigInt(Math.round(usd * NANO))

/** Returns an amount as the API writes it, in US dollars. */
export const usdFromNano = (nano: bigint): number => Number(nano) / NANO
