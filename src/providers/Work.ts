/** Work other than chat: the requests to a provider and their results. */
import type { Effect } from "effect"
import type { ProviderError } from "./ProviderError.ts"

export interface Embeddings {
  /** The JSON of the list of embeddings, unchanged from the provider because it is long. Empty while the list is still arriving. */
  readonly data: Uint8Array
  /** The provider's count of prompt tokens. Undefined when it does not report one, or has yet to. */
  readonly tokens: number | undefined
  /** A very long list with a validated beginning. */
  readonly arriving?: ArrivingVectors
}

/**
 * A list of embeddings that is still arriving. It arrives whether or not it is read, but waits for its reader when too much is unread.
 */
export interface ArrivingVectors {
  /**
   * Returns bytes that have arrived since the last call, at least one; undefined at the end of the list. Only one reader may use it, and
   * the effect interrupts the reader after `leave`.
   */
  readonly next: Effect.Effect<ReadonlyArray<Uint8Array> | undefined>
  /** Ends reading: the list drops unread bytes and keeps no later ones. */
  readonly leave: () => void
  /** How many validated vectors have arrived. */
  readonly count: number
  /** Waits for the end. Returns the provider's count of prompt tokens; fails with the fault that made the list incomplete. */
  readonly whole: Effect.Effect<number | undefined, ProviderError>
}
