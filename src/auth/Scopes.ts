/** The scopes that a management key can have. */
export const scopes = [
  "keys:read",
  "keys:write",
  "projects:read",
  "projects:write",
  "webhooks:read",
  "webhooks:write",
  "presets:read",
  "routing:write",
  "usage:read",
  "audit:read"
] as const

export type Scope = (typeof scopes)[number]

/** Whether the granted scopes include the needed one. Each `:write` includes the `:read` of the same name. */
export const allows = (granted: ReadonlyArray<string>, needed: string): boolean =>
  granted.includes(needed) || (needed.endsWith(":read") && granted.includes(needed.replace(/read$/, "write")))
