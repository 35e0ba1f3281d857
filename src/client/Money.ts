/** Amounts of the API, which are numbers of US dollars, as whole nano-dollars that add up without rounding. */

const NANO = 1_000_000_000

/** 1e-9 dollars in one unit. Exact for every amount that the API gives, up to nine million dollars. */
export const nanoFromUsd = (usd: number): bigint => BigInt(Math.round(usd * NANO))

/** The number that the API would write for an amount. */
export const usdFromNano = (nano: bigint): number => Number(nano) / NANO
