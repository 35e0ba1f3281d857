import type { Effect, Scope } from "effect"
import type { Unavailable } from "../database/Sql.ts"

/** A range of bytes of a file, from `start` up to but not including `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Returns the next bytes of a file, or undefined at the end. It buffers no more than the next chunk. */
export type FileBody = Effect.Effect<Uint8Array | undefined, Unavailable>

/** The largest file the service stores, in bytes: a one-minute video or the input of a batch fits with room to spare. */
export const MAX_FILE_BYTES = 256 * 1024 * 1024

/**
 * Stores the bytes of files. Each file has an id that is created for it and never reused. The database holds everything else about a
 * file.
 */
export interface FileStore {
  /** Returns when the bytes are durable. */
  readonly put: (id: string, bytes: Uint8Array, contentType: string) => Effect.Effect<void, Unavailable>
  /** Undefined when the store has no such bytes. Closing the scope releases the underlying handle or connection. */
  readonly open: (id: string, range: ByteRange) => Effect.Effect<FileBody | undefined, Unavailable, Scope.Scope>
  /** Also removes what an interrupted `put` left. Succeeds when the store has no such bytes. */
  readonly remove: (id: string) => Effect.Effect<void, Unavailable>
  /** The next ids after this one in ascending order, so the oldest come first. Returns at most 10,000, and none at the end. */
  readonly idsAfter: (id: string) => Effect.Effect<ReadonlyArray<string>, Unavailable>
}
