/** Amounts in US dollars that the gateway fixes and that the console names. */

/** Below this balance the gateway warns, and the console asks for a top-up. */
export const LOW_BALANCE_USD = 5

/** The starter credit for a verified phone number. */
export const STARTER_CREDIT_USD = 0.5
