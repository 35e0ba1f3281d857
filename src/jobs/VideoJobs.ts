import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import {
  dropTurn,
  endJob,
  forgetEnded,
  goOn,
  hasRoom,
  insertJob,
  jobById,
  jobOfRequest,
  joinLine,
  lockProvider,
  type NewVideoJob,
  noteSubmission,
  renewTurn,
  type Room,
  standingJobs,
  takeTurn,
  unfinishedOf,
  type VideoEnd,
  type VideoGoing,
  type VideoRow
} from "./VideoJobsSql.ts"

/** Jobs that are looked for at a time. */
const STANDING_BATCH = 100

/** Ended jobs that are forgotten at a time. */
const FORGOTTEN_BATCH = 1_000

/** Whose turn at which job. */
type Turn = Pick<VideoRow, "id" | "turn">

/**
 * The rows of video jobs. Who works on a job takes a turn at it, which is one at a time, and whatever is written names its turn: the
 * word of one whose turn was given to another counts for nothing. What fails with `SqlError` belongs into a transaction.
 */
export class VideoJobs extends Context.Service<
  VideoJobs,
  {
    readonly insert: (job: NewVideoJob) => Effect.Effect<VideoRow, SqlError.SqlError>
    readonly find: (id: string) => Effect.Effect<VideoRow | undefined, Unavailable>
    readonly ofRequest: (requestId: string) => Effect.Effect<VideoRow | undefined, Unavailable>
    /**
     * Takes a turn at a job for so long. Undefined where there is none to be had: it has ended, another one is at it, or it was asked
     * after less than `idleMs` ago.
     */
    readonly take: (
      id: string,
      how: { readonly forMs: number; readonly idleMs: number }
    ) => Effect.Effect<VideoRow | undefined, Unavailable>
    /** Keeps a turn for so long from now; false where it is another's by now. */
    readonly renew: (turn: Turn, forMs: number) => Effect.Effect<boolean, Unavailable>
    /** Gives a turn back with nothing done. */
    readonly drop: (turn: Turn) => Effect.Effect<void, Unavailable>
    /**
     * Notes that the job is about to be handed to a provider, before it is, so that it is known if nobody hears of the outcome, and
     * keeps the turn for so long. `full` where the provider has no room, of all nodes, for it and those that have waited for longer:
     * then it waits in line. `outrun` where the turn is another's.
     */
    readonly submitting: (
      turn: Turn & Pick<VideoRow, "account_id" | "submissions">,
      provider: string,
      room: Room,
      forMs: number
    ) => Effect.Effect<"noted" | "full" | "outrun", Unavailable>
    /** Ends a turn with the job going on. Undefined, and nothing is written, where the turn is another's. */
    readonly goOn: (turn: Turn, going: VideoGoing) => Effect.Effect<VideoRow | undefined, Unavailable>
    /** Ends the job. Undefined, and nothing is written, where the turn is another's. */
    readonly end: (turn: Turn, end: VideoEnd) => Effect.Effect<VideoRow | undefined, SqlError.SqlError>
    /** Some jobs that nobody is at although they are overdue, or have been due for longer than this. */
    readonly standing: (graceMs: number) => Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** How many jobs of an account go on: exactly so in a transaction that has charged it. */
    readonly unfinished: (accountId: string) => Effect.Effect<number, SqlError.SqlError>
    /** Forgets some of the jobs that ended longer ago than this. */
    readonly forget: (olderThanMs: number) => Effect.Effect<void, Unavailable>
  }
>()("tollgate/jobs/VideoJobs") {
  static readonly layer = Layer.effect(
    VideoJobs,
    Effect.map(SqlClient.SqlClient, (sql) =>
      VideoJobs.of({
        insert: (job) =>
          Effect.flatMap(insertJob(sql, job), (row) =>
            row === undefined ? Effect.die(new Error("an inserted row was not given back")) : Effect.succeed(row)
          ),
        find: (id) => storeErrors(jobById(sql, id)),
        ofRequest: (requestId) => storeErrors(jobOfRequest(sql, requestId)),
        take: (id, how) => storeErrors(takeTurn(sql, id, how)),
        renew: ({ id, turn }, forMs) => storeErrors(renewTurn(sql, id, turn, forMs)),
        drop: ({ id, turn }) => storeErrors(Effect.asVoid(dropTurn(sql, id, turn))),
        submitting: (turn, provider, room, forMs) =>
          storeErrors(
            sql.withTransaction(
              Effect.gen(function* () {
                yield* lockProvider(sql, provider)
                if (yield* hasRoom(sql, turn, provider, room)) {
                  return (yield* noteSubmission(sql, turn, provider, forMs)) ? ("noted" as const) : ("outrun" as const)
                }
                yield* joinLine(sql, turn, provider)
                return "full" as const
              })
            )
          ),
        goOn: (turn, going) => storeErrors(goOn(sql, turn, going)),
        end: (turn, end) => endJob(sql, turn, end),
        standing: (graceMs) => storeErrors(standingJobs(sql, graceMs, STANDING_BATCH)),
        unfinished: (accountId) => unfinishedOf(sql, accountId),
        forget: (olderThanMs) => storeErrors(Effect.asVoid(forgetEnded(sql, olderThanMs, FORGOTTEN_BATCH)))
      })
    )
  )
}
