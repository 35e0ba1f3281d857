/** The length of a window, in seconds. */
export const windowSeconds = 60

/** Structured header fields carry integers of at most 15 digits. */
const mostRequests = 999_999_999_999_999

interface Limit {
  /** Requests admitted in one window at scale 1. */
  readonly requests: number | "unlimited"
  /**
   * Whether the requests of one key or of one account share the window. Requests without a valid key share one per client address.
   */
  readonly per: "key" | "account"
}

/**
 * All rate limits. A route names one policy, or uses `default`. `video_status` opens no window of its own. It reports the window of
 * `default` without counting.
 */
export const limits = {
  default: { requests: 60, per: "key" },
  chat: { requests: 60, per: "key" },
  search: { requests: 60, per: "key" },
  images: { requests: 30, per: "key" },
  video: { requests: 2, per: "key" },
  video_status: { requests: "unlimited", per: "key" },
  /** A page may show hundreds of images, which browsers request without a key. */
  files: { requests: 600, per: "key" },
  management_reads: { requests: 120, per: "account" },
  management_writes: { requests: 30, per: "account" },
  operator_reads: { requests: 300, per: "key" },
  operator_writes: { requests: 60, per: "key" },
  /** Separate from the management API's windows, so that no management key can prevent its owner from revoking it. */
  console_reads: { requests: 120, per: "account" },
  console_writes: { requests: 30, per: "account" }
} as const satisfies Record<string, Limit>

export type PolicyName = keyof typeof limits

/** A policy that counts requests. */
export type WindowName = {
  [Name in PolicyName]: (typeof limits)[Name]["requests"] extends number ? Name : never
}[PolicyName]

/** Returns the window that a policy reports. It is also the one it counts in, unless it is unlimited. */
export const windowOf = (policy: PolicyName): WindowName => (policy === "video_status" ? "default" : policy)

/** Reports whether the gateway admits requests under this policy without counting them. */
export const isUnlimited = (policy: PolicyName): boolean => limits[policy].requests === "unlimited"

/**
 * Returns the requests admitted in one window: the limit times `scale`, rounded down, at least 1. A scale that is not a positive
 * number counts as the smallest.
 */
export const requestsAt = (window: WindowName, scale: number): number => {
  // The product of two scales may fall slightly short of the intended whole number: 0.7 × 0.1 × 100 is 6.999….
  const scaled = Math.floor(limits[window].requests * scale + 1e-9)
  return scaled >= 1 ? Math.min(scaled, mostRequests) : 1
}

/** The subject of a limit. Subjects of different kinds never share a window, whatever their IDs. */
export interface Subject {
  readonly kind: "key" | "account" | "address"
  readonly id: string
}

/** Returns the subject that a policy counts: the key or its account or, without a valid key, the client's address. */
export const subjectOf = (
  policy: PolicyName,
  caller: { readonly keyId: string; readonly accountId: string } | undefined,
  address: string
): Subject => {
  if (caller === undefined) return { kind: "address", id: address }
  return limits[policy].per === "key" ? { kind: "key", id: caller.keyId } : { kind: "account", id: caller.accountId }
}
