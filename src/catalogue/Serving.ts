/** How a provider is served: by its real host, by the sandbox's simulation, or not at all. */
export type Serving = "real" | "double" | "none"

/** A provider with a credential is real. One without is simulated in sandbox mode and absent otherwise. */
export const servingOf = (provider: { readonly keyed: boolean; readonly sandbox: boolean }): Serving =>
  provider.keyed ? "real" : provider.sandbox ? "double" : "none"
