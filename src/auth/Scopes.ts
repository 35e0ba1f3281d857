/** What a management key may be allowed to do. */
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
