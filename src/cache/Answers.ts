import type { Effect } from "effect"
import type { CacheKey } from "./CacheKey.ts"

/** The most bytes of all cached responses: of one node in memory, of all nodes in Redis. */
export const MAX_BYTES = 64 * 1_048_576

/** The most bytes of one response. Longer ones are not cached. */
export const MAX_ANSWER_BYTES = 1_048_576

/** The bytes counted for each entry beside its response: its key and its place in the order of use. */
export const ENTRY_BYTES = 512

/** The default lifetime of a response, in seconds. */
export const DEFAULT_LIFE_SECONDS = 300
/** The maximum lifetime of a response, in seconds. */
export const MAX_LIFE_SECONDS = 3_600

/** A store of responses. It never fails: an unreadable response is missing, and an unwritable one is not stored. */
export interface Answers {
  readonly get: (key: CacheKey) => Effect.Effect<string | undefined>
  /** Stores a text for `lifeSeconds` and replaces the previous one. It skips long texts and makes room by dropping old ones. */
  readonly put: (key: CacheKey, text: string, lifeSeconds: number) => Effect.Effect<void>
}
