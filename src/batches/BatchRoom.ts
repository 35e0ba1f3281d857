/** Limits the total size of a batch's responses, because they all go into one file. */
import { Deferred, Effect, Exit } from "effect"
import type { SqlClient } from "effect/sql"
import { type BatchRow, mayBeginLine } from "./BatchesSql.ts"
import { storeErrors } from "../platform/database/Sql.ts"
import type { AttemptGate } from "./BatchLine.ts"

/** The room reserved for a response of unknown size: the largest response that the gateway accepts from a provider. */
const ANSWER_BYTES = 16 * 1_048_576

/**
 * The upper bounds of long responses assume numbers in their longest form and much whitespace. Current hosts need less than this
 * fraction of them.
 */
const USED_PART = 9 / 20

export interface BatchRoom {
  /**
   * Reserves room for a line's response of at most `bytes` while the line is served. It waits if room is lacking only because of
   * running lines. Returns false when there is no room.
   */
  readonly begin: (bytes: number) => Effect.Effect<boolean>
  /** Gives back a line's reservation. Call `written` with its actual size first. */
  readonly end: (bytes: number) => void
  /** Sets the total number of bytes recorded so far. */
  readonly written: (bytes: number) => void
}

/** Creates the limit for `most` bytes of responses, of which `writtenBefore` are recorded already. */
export const makeBatchRoom = (most: number, writtenBefore: number): BatchRoom => {
  let [written, reserved, next] = [writtenBefore, 0, Deferred.makeUnsafe<void>()]
  const begin = (bytes: number): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      if (written + reserved + bytes <= most) {
        reserved += bytes
        return Effect.succeed(true)
      }
      return reserved === 0 ? Effect.succeed(false) : Effect.flatMap(Deferred.await(next), () => begin(bytes))
    })
  return {
    begin,
    end: (bytes) => {
      reserved -= bytes
      const ended = next
      next = Deferred.makeUnsafe<void>()
      Deferred.doneUnsafe(ended, Exit.void)
    },
    written: (bytes) => {
      written = Math.max(written, bytes)
    }
  }
}

/** The room that a line of a batch holds while it is served. */
export interface LineReservation {
  readonly mayBegin: AttemptGate
  readonly release: () => void
}

/**
 * Reserves room for a response and lets each attempt begin while the batch runs and belongs to this process. Calls `over` when it
 * no longer does.
 */
export const reserveLine = (
  sql: SqlClient.SqlClient,
  batch: Pick<BatchRow, "id" | "worker">,
  room: BatchRoom,
  over: () => void
): LineReservation => {
  let reserved = 0
  return {
    mayBegin: (mostBytes) =>
      Effect.gen(function* () {
        const needed = mostBytes === undefined ? ANSWER_BYTES : mostBytes * USED_PART
        if (reserved === 0) {
          if (!(yield* room.begin(needed))) return "full"
          reserved = needed
        }
        if (yield* storeErrors(mayBeginLine(sql, batch))) return "go"
        over()
        return "over"
      }),
    release: () => {
      if (reserved > 0) room.end(reserved)
    }
  }
}
