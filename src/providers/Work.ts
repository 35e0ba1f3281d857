/** Work other than chat: the requests to a provider and their results. */
import type { Effect } from "effect"
import type { ProviderError } from "./ProviderError.ts"

export interface Embeddings {
  /**
   * The JSON of the list of embeddings as the provider wrote it: it is long, and the gateway changes nothing in it. Empty while the
   * list is still arriving.
   */
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
   * Some of what has arrived since, never nothing; undefined when no more follows. For one reader, which is interrupted once it has
   * left.
   */
  readonly next: Effect.Effect<ReadonlyArray<Uint8Array> | undefined>
  /** The reader has gone: unread bytes are dropped, and later ones are not kept. */
  readonly leave: () => void
  /** How many validated vectors have arrived. */
  readonly count: number
  /** Waits for the end. Returns the provider's count of prompt tokens, or fails with the reason why the list is incomplete. */
  readonly whole: Effect.Effect<number | undefined, ProviderError>
}
