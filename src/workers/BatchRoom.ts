/** What the answers of one batch may come to: they end in one file. */
import { Deferred, Effect, Exit } from "effect"
import type { SqlClient } from "effect/sql"
import { type BatchRow, mayBeginLine } from "../inference/BatchesSql.ts"
import { storeErrors } from "../platform/Sql.ts"
import type { MayBegin } from "./BatchLine.ts"

/** Room that is kept for an answer while it is made: as much as a provider's may have, where nothing is known of it. */
const ANSWER_BYTES = 16 * 1_048_576

/** Bounds of long answers are for numbers written most widely, with blanks; hosts of today need less than this part of them. */
const USED_PART = 9 / 20

export interface BatchRoom {
  /**
   * Keeps room for the answer of a line, at most so many bytes, while it is served; waits where only those under way stand in
   * the way. False when there is none.
   */
  readonly begin: (bytes: number) => Effect.Effect<boolean>
  /** Gives back what was kept for a line. What it came to is to be told of first. */
  readonly end: (bytes: number) => void
  /** So many bytes are written down in all. */
  readonly written: (bytes: number) => void
}

/** Room for `most` bytes of answers in all, of which so many are written already. */
export const makeBatchRoom = (most: number, writtenBefore: number): BatchRoom => {
  let [written, kept, next] = [writtenBefore, 0, Deferred.makeUnsafe<void>()]
  const begin = (bytes: number): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      if (written + kept + bytes <= most) {
        kept += bytes
        return Effect.succeed(true)
      }
      return kept === 0 ? Effect.succeed(false) : Effect.flatMap(Deferred.await(next), () => begin(bytes))
    })
  return {
    begin,
    end: (bytes) => {
      kept -= bytes
      const ended = next
      next = Deferred.makeUnsafe<void>()
      Deferred.doneUnsafe(ended, Exit.void)
    },
    written: (bytes) => {
      written = Math.max(written, bytes)
    }
  }
}

/** What one line has of its batch while it is served. */
export interface Place {
  readonly mayBegin: MayBegin
  readonly leave: () => void
}

/** Keeps room for an answer, and lets each try begin while the batch runs and is this process's; `over` is told when it is not. */
export const placeOf = (
  sql: SqlClient.SqlClient,
  batch: Pick<BatchRow, "id" | "worker">,
  room: BatchRoom,
  over: () => void
): Place => {
  let kept = 0
  return {
    mayBegin: (mostBytes) =>
      Effect.gen(function* () {
        const needed = mostBytes === undefined ? ANSWER_BYTES : mostBytes * USED_PART
        if (kept === 0) {
          if (!(yield* room.begin(needed))) return "full"
          kept = needed
        }
        if (yield* storeErrors(mayBeginLine(sql, batch))) return "go"
        over()
        return "over"
      }),
    leave: () => {
      if (kept > 0) room.end(kept)
    }
  }
}
