/** How long a window lasts. */
export const windowSeconds = 60

/** Structured header fields carry integers of at most 15 digits. */
const mostRequests = 999_999_999_999_999

interface Limit {
  /** Requests admitted in one window at scale 1. */
  readonly requests: number | "unlimited"
  /** Whose requests share the window. Requests without a valid key share one per client address instead. */
  readonly per: "key" | "account"
}

/**
 * Every limit there is. A route names one policy: the one of its own line here, `default` when it has none.
 * `video_status` opens no window of its own; it shows the one of `default` and leaves it as it is.
 */
export const limits = {
  default: { requests: 60, per: "key" },
  chat: { requests: 60, per: "key" },
  search: { requests: 60, per: "key" },
  images: { requests: 30, per: "key" },
  video: { requests: 2, per: "key" },
  video_status: { requests: "unlimited", per: "key" },
  /** A page may show hundreds of pictures, which are asked for without a key. */
  files: { requests: 600, per: "key" },
  management_reads: { requests: 120, per: "account" },
  management_writes: { requests: 30, per: "account" },
  /** The owner's own, so that no management key can keep its owner from revoking it. */
  console_reads: { requests: 120, per: "account" },
  console_writes: { requests: 30, per: "account" }
} as const satisfies Record<string, Limit>

export type PolicyName = keyof typeof limits

/** A policy that counts. */
export type WindowName = {
  [Name in PolicyName]: (typeof limits)[Name]["requests"] extends number ? Name : never
}[PolicyName]

/** The window a policy shows, which is the one it counts in unless it is unlimited. */
export const windowOf = (policy: PolicyName): WindowName => (policy === "video_status" ? "default" : policy)

/** Whether requests under this policy are admitted without being counted. */
export const isUnlimited = (policy: PolicyName): boolean => limits[policy].requests === "unlimited"

/**
 * Requests admitted in one window: the limit times `scale`, rounded down, at least 1. A scale that is no positive
 * number counts as the smallest.
 */
export const requestsAt = (window: WindowName, scale: number): number => {
  // Two scales multiplied may fall a hair short of the whole number meant: 0.7 × 0.1 × 100 is 6.999….
  const scaled = Math.floor(limits[window].requests * scale + 1e-9)
  return scaled >= 1 ? Math.min(scaled, mostRequests) : 1
}

/** Who is counted. Subjects of different kinds never share a window, whatever their ids. */
export interface Subject {
  readonly kind: "key" | "account" | "address"
  readonly id: string
}

/** The subject a policy counts for a request: the key or its account, or without a valid key the client's address. */
export const subjectOf = (
  policy: PolicyName,
  caller: { readonly keyId: string; readonly accountId: string } | undefined,
  address: string
): Subject => {
  if (caller === undefined) return { kind: "address", id: address }
  return limits[policy].per === "key" ? { kind: "key", id: caller.keyId } : { kind: "account", id: caller.accountId }
}
