/** Who answers for a provider: its real host, the sandbox's double, or nobody. */
export type Serving = "real" | "double" | "none"

/** A provider with a credential is real; one without is doubled in sandbox mode and absent elsewhere. */
export const servingOf = (provider: { readonly keyed: boolean; readonly sandbox: boolean }): Serving =>
  provider.keyed ? "real" : provider.sandbox ? "double" : "none"
