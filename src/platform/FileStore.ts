import type { Effect, Scope } from "effect"
import type { Unavailable } from "./Sql.ts"

/** Bytes of a file from `start` up to, and without, `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** The next bytes of a file as they are taken, or undefined at the end. It holds no more than it hands out next. */
export type FileBody = Effect.Effect<Uint8Array | undefined, Unavailable>

/** The largest file that is kept: a clip of a minute, or the input of a batch, with room. */
export const MAX_FILE_BYTES = 256 * 1024 * 1024

/** Where bytes lie, under ids that are made for them and never used again. What is known of them stands in the database. */
export interface FileStore {
  /** Durable when it answers. */
  readonly put: (id: string, bytes: Uint8Array, contentType: string) => Effect.Effect<void, Unavailable>
  /** Undefined when there are none. Closing the scope lets go of whatever they come from. */
  readonly open: (id: string, range: ByteRange) => Effect.Effect<FileBody | undefined, Unavailable, Scope.Scope>
  /** Also of what a store that was cut off left; none being there is fine. */
  readonly remove: (id: string) => Effect.Effect<void, Unavailable>
  /** The next ids after this one, ascending, which is oldest first; at most ten thousand, and none at the end. */
  readonly idsAfter: (id: string) => Effect.Effect<ReadonlyArray<string>, Unavailable>
}
