/** The facts of an operator's operation that changes nothing. */
export const reads = { limit: "operator_reads", charge: "free" } as const

/** The facts of an operator's operation that changes something. */
export const writes = { limit: "operator_writes", charge: "free" } as const
