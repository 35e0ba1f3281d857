import { Context, Effect, Fiber, FiberSet, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import {
  appendMessages,
  countSessions,
  hasTurn,
  insertSession,
  lastDigests,
  lockSession,
  type MessageRow,
  messagesOf,
  type SessionRow,
  sessionById,
  sessionBySessionId
} from "./SessionsSql.ts"
import { bytesOf, messageOfAnswer, messagesOfRequest, newMessages, type SaidMessage, type Turn } from "./Turn.ts"

/** Of one account; a session costs its caller nothing. */
export const MAX_SESSIONS_PER_ACCOUNT = 10_000

/** Of one session. A request has at most a hundred. */
export const MAX_MESSAGES_PER_SESSION = 10_000

/** Of what the messages of one session say, as JSON: 16 MiB, which an export sends whole. */
export const MAX_SESSION_BYTES = 16 * 1_048_576

/** The most messages a request has, so that a longer overlap with it is not possible. */
const REQUEST_MESSAGES = 100

/** As long as an idempotency key stands, so that a repeat under one is known. */
const TURN_KNOWN_MS = 24 * 3_600_000

/** An answer waits so long for its record, that who reads the session next finds it there; what takes longer goes on by itself. */
const RECORD_PATIENCE = "250 millis"

/** How long a record is tried again while the database is away: from 0.2 s apart to 5 s. */
const RECORD_RETRY = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("5 seconds")]).pipe(
  Schedule.upTo({ duration: "2 minutes" })
)

/** Bytes of turns on their way to the database, of which no more are kept when it is away. */
const MAX_RECORDING_BYTES = 64 * 1_048_576

/** How long records under way have when the service stops. */
const STOP_PATIENCE = "5 seconds"

export interface NewSession {
  readonly sessionId: string | undefined
  readonly metadata: unknown
  readonly model: string | undefined
}

/**
 * Conversations of the legacy chat, recorded for their account. A session takes no part in what is asked: callers send all of a
 * conversation with every request.
 */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** The account's session of this `sessionId` as it is, or a new one; undefined when the account has as many as it may. */
    readonly open: (accountId: string, session: NewSession) => Effect.Effect<SessionRow | undefined, Unavailable>
    /** By its id; undefined when there is none, or it is another account's. */
    readonly find: (accountId: string, id: string) => Effect.Effect<SessionRow | undefined, Unavailable>
    /** By the caller's own `session_id` or, where none has that, by its id. */
    readonly named: (accountId: string, name: string) => Effect.Effect<SessionRow | undefined, Unavailable>
    /** Whether these messages of a request would still go into the session, and an answer. */
    readonly hasRoom: (session: SessionRow, messages: ReadonlyArray<SaidMessage>) => Effect.Effect<boolean, Unavailable>
    /**
     * Appends what is new of a turn, once. Never fails, and soon answers: while the database is away it is tried for two minutes,
     * and what is not recorded by then is lost but for a line in the log.
     */
    readonly record: (session: string, turn: Turn) => Effect.Effect<void>
    /** Messages from a position on, up to but without that at `end`, at most so many. */
    readonly messages: (
      session: string,
      page: { readonly from: number; readonly end: number; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<MessageRow>, Unavailable>
  }
>()("tollgate/sessions/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const recording = yield* FiberSet.make<void>()
      yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(recording), STOP_PATIENCE))
      let bytes = 0

      const append = (id: string, turn: Turn) =>
        Effect.gen(function* () {
          const session = yield* lockSession(sql, id)
          if (session === undefined || (yield* hasTurn(sql, id, turn.name, TURN_KNOWN_MS))) return
          const last = yield* lastDigests(sql, id, REQUEST_MESSAGES)
          const messages = [...newMessages(last, messagesOfRequest(turn.messages)), messageOfAnswer(turn)]
          yield* appendMessages(sql, id, { from: session.messages, messages, bytes: bytesOf(messages) })
        }).pipe(sql.withTransaction, storeErrors)

      const record = (id: string, turn: Turn): Effect.Effect<void> =>
        Effect.suspend(() => {
          const size = bytesOf(messagesOfRequest(turn.messages))
          if (bytes + size > MAX_RECORDING_BYTES) {
            return Effect.logWarning(`${turn.name} is not recorded in session ${id}: too much is waiting to be`)
          }
          bytes += size
          const appended = append(id, turn).pipe(
            Effect.retry(RECORD_RETRY),
            Effect.catchCause((cause) => Effect.logWarning(`${turn.name} is not recorded in session ${id}`, cause)),
            Effect.ensuring(Effect.sync(() => (bytes -= size)))
          )
          return Effect.flatMap(FiberSet.run(recording, appended), (fiber) =>
            Effect.asVoid(Effect.timeoutOption(Fiber.await(fiber), RECORD_PATIENCE))
          )
        })

      return Sessions.of({
        open: (accountId, { metadata, model, sessionId }) =>
          Effect.gen(function* () {
            const existing = sessionId === undefined ? undefined : yield* sessionBySessionId(sql, accountId, sessionId)
            if (existing !== undefined) return existing
            if ((yield* countSessions(sql, accountId)) >= MAX_SESSIONS_PER_ACCOUNT) return undefined
            const session = {
              id: newResourceId(),
              accountId,
              sessionId: sessionId ?? null,
              model: model ?? null,
              metadata: JSON.stringify(metadata ?? {})
            }
            const made = yield* insertSession(sql, session)
            if (made !== undefined || sessionId === undefined) return made
            return yield* sessionBySessionId(sql, accountId, sessionId)
          }).pipe(storeErrors),
        find: (accountId, id) => storeErrors(sessionById(sql, accountId, id)),
        named: (accountId, name) =>
          // The one character a text of PostgreSQL cannot hold.
          name.includes("\0")
            ? Effect.undefined
            : storeErrors(
                Effect.flatMap(sessionBySessionId(sql, accountId, name), (session) =>
                  session === undefined ? sessionById(sql, accountId, name) : Effect.succeed(session)
                )
              ),
        hasRoom: (session, messages) =>
          Effect.map(storeErrors(lastDigests(sql, session.id, REQUEST_MESSAGES)), (last) => {
            const added = newMessages(last, messagesOfRequest(messages))
            return (
              session.messages + added.length < MAX_MESSAGES_PER_SESSION &&
              Number(session.bytes) + bytesOf(added) < MAX_SESSION_BYTES
            )
          }),
        record,
        messages: (session, page) => storeErrors(messagesOf(sql, session, page))
      })
    })
  )
}
