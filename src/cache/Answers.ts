import type { Effect } from "effect"
import type { CacheKey } from "./CacheKey.ts"

/** Bytes of all kept answers together: of one node in its memory, of all nodes in Redis. */
export const MAX_BYTES = 64 * 1_048_576

/** Bytes of one answer; longer ones are not kept. */
export const MAX_ANSWER_BYTES = 1_048_576

/** What an entry takes beside its answer: its key, its place in the order of use. */
export const ENTRY_BYTES = 512

/** How long an answer is kept unless told, and the longest it may be. */
export const DEFAULT_LIFE_SECONDS = 300
export const MAX_LIFE_SECONDS = 3_600

/** Where answers are kept. It never fails: what cannot be read is not there, and what cannot be kept is not kept. */
export interface Answers {
  readonly get: (key: CacheKey) => Effect.Effect<string | undefined>
  /** Keeps a text for `lifeSeconds`, in place of what was there. Long ones are left out, and old ones make room. */
  readonly put: (key: CacheKey, text: string, lifeSeconds: number) => Effect.Effect<void>
}
