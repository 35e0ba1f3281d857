/** Amounts of money as answers and receipts show them. */

/** Returns an amount in USD as nano-USD. */
export const nano = (usd: number): bigint => BigInt(Math.round(usd * 1e9))
