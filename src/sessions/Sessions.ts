import { Context, Data, Effect, Fiber, FiberSet, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/Sql.ts"
import { Reserved } from "./Reserved.ts"
import {
  addToTotal,
  appendMessages,
  digestsAmong,
  hasTurn,
  insertSession,
  lastDigests,
  lockSession,
  lockTotal,
  type MessageRow,
  messagesOf,
  type Page,
  type SessionRow,
  sessionById,
  sessionBySessionId,
  totalOf
} from "./SessionsSql.ts"
import {
  bytesOf,
  endsWith,
  knownOf,
  messageOfAnswer,
  messagesOfRequest,
  type Parts,
  partsOf,
  type SaidMessage,
  type Turn
} from "./Turn.ts"

/** Of one account; a session costs its caller nothing. */
export const MAX_SESSIONS_PER_ACCOUNT = 10_000

/** Of one session. A request has at most a hundred. */
export const MAX_MESSAGES_PER_SESSION = 10_000

/** Of one session: 16 MiB, which an export sends whole. A message counts 256 more than what it says as JSON. */
export const MAX_SESSION_BYTES = 16 * 1_048_576

/** Of all sessions of an account, their metadata included: 256 MiB. */
export const MAX_ACCOUNT_BYTES = 256 * 1_048_576

/** Counted for each session beside its metadata. */
const SESSION_BYTES = 256

/** Room kept for an answer before it is known: a long one has less. */
const ANSWER_BYTES = 131_072

/**
 * How far a session may outgrow its bounds: to twice. A node admits no turn for which there is no room with those it has admitted
 * before, but it does not know those of others, nor how long an answer will be; what was admitted and answered is not dropped.
 */
const OVERRUN = 2

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

/** How long records under way have when the service stops. */
const STOP_PATIENCE = "5 seconds"

/** No more fits in: of which bound there is no more left. */
export class SessionsFull extends Data.TaggedError("SessionsFull")<{
  readonly bound:
    | "sessions of the account"
    | "bytes of the account"
    | "messages of the session"
    | "bytes of the session"
}> {}

/** There would be room, but turns that are still being answered or recorded may need it. */
export class SessionsBusy extends Data.TaggedError("SessionsBusy")<{}> {}

export interface NewSession {
  readonly sessionId: string | undefined
  readonly metadata: unknown
  readonly model: string | undefined
}

/** Room that a turn has in its session before it is asked. It is to be released, whatever becomes of the turn. */
export interface Admission {
  readonly accountId: string
  readonly session: string
  /** So many of its first messages behind the instructions the session had then. */
  readonly known: number
  /** Gives the room back, once; a record does it when it is done. */
  readonly giveBack: () => void
  /** Whether a record has taken it over. */
  recording: boolean
}

const jsonBytes = (json: string): number => SESSION_BYTES + Buffer.byteLength(json, "utf8")

/** A request's messages without the instructions that the session has, be they far behind its `last` messages. */
const lacking = (
  sql: SqlClient.SqlClient,
  id: string,
  messages: ReadonlyArray<SaidMessage>,
  last: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    const { instructions, talk } = partsOf(messagesOfRequest(messages))
    const near = new Set(last)
    const missed = instructions.filter(({ digest }) => !near.has(digest))
    // Fewer than were asked for are all that there are.
    const isSeen = missed.length === 0 || last.length < REQUEST_MESSAGES
    const digests = missed.map(({ digest }) => digest)
    const far = new Set(isSeen ? [] : yield* digestsAmong(sql, id, digests))
    return { instructions: missed.filter(({ digest }) => !far.has(digest)), talk } satisfies Parts
  })

/** Appends what is new of a turn, in a transaction; false when it does not go in. */
const append = (sql: SqlClient.SqlClient, { accountId, known, session: id }: Admission, turn: Turn) =>
  Effect.gen(function* () {
    const session = yield* lockSession(sql, id)
    if (session === undefined || (yield* hasTurn(sql, id, turn.name, TURN_KNOWN_MS))) return true
    const last = yield* lastDigests(sql, id, REQUEST_MESSAGES + 1)
    const { instructions, talk } = yield* lacking(sql, id, turn.messages, last)
    const answer = messageOfAnswer(turn)
    if (turn.free && instructions.length === 0 && endsWith(last, [...talk, answer])) return true
    const messages = [...instructions, ...talk.slice(Math.max(known, knownOf(last, talk))), answer]
    const bytes = bytesOf(messages)
    const total = yield* lockTotal(sql, accountId)
    const fits =
      session.messages + messages.length <= OVERRUN * MAX_MESSAGES_PER_SESSION &&
      Number(session.bytes) + bytes <= OVERRUN * MAX_SESSION_BYTES &&
      total.bytes + bytes <= OVERRUN * MAX_ACCOUNT_BYTES
    if (!fits) return false
    yield* appendMessages(sql, id, { from: session.messages, messages, bytes })
    yield* addToTotal(sql, accountId, { sessions: 0, bytes })
    return true
  }).pipe(sql.withTransaction, storeErrors)

const openIn = (sql: SqlClient.SqlClient, accountId: string, { metadata, model, sessionId }: NewSession) =>
  Effect.gen(function* () {
    const total = yield* lockTotal(sql, accountId)
    const existing = sessionId === undefined ? undefined : yield* sessionBySessionId(sql, accountId, sessionId)
    if (existing !== undefined) return existing
    const json = JSON.stringify(metadata ?? {})
    const bytes = jsonBytes(json)
    if (total.sessions >= MAX_SESSIONS_PER_ACCOUNT) return yield* new SessionsFull({ bound: "sessions of the account" })
    if (total.bytes + bytes > MAX_ACCOUNT_BYTES) return yield* new SessionsFull({ bound: "bytes of the account" })
    yield* addToTotal(sql, accountId, { sessions: 1, bytes })
    const session = { id: newResourceId(), accountId, sessionId: sessionId ?? null, model: model ?? null }
    return yield* insertSession(sql, { ...session, metadata: json })
  }).pipe(sql.withTransaction)

const admitIn = (
  sql: SqlClient.SqlClient,
  reserved: Reserved,
  { accountId, messages, session }: Asked
): Effect.Effect<Admission, SessionsFull | SessionsBusy | Unavailable> =>
  Effect.gen(function* () {
    const last = yield* lastDigests(sql, session.id, REQUEST_MESSAGES)
    const { instructions, talk } = yield* lacking(sql, session.id, messages, last)
    const known = knownOf(last, talk)
    const added = [...instructions, ...talk.slice(known)]
    const size = { messages: added.length + 1, bytes: bytesOf(added) + ANSWER_BYTES }
    const left = {
      session: {
        messages: MAX_MESSAGES_PER_SESSION - session.messages,
        bytes: MAX_SESSION_BYTES - Number(session.bytes)
      },
      accountBytes: MAX_ACCOUNT_BYTES - (yield* totalOf(sql, accountId)).bytes
    }
    if (size.messages > left.session.messages) return yield* new SessionsFull({ bound: "messages of the session" })
    if (size.bytes > left.session.bytes) return yield* new SessionsFull({ bound: "bytes of the session" })
    if (size.bytes > left.accountBytes) return yield* new SessionsFull({ bound: "bytes of the account" })
    const giveBack = reserved.take({ accountId, session: session.id }, size, left)
    if (giveBack === undefined) return yield* new SessionsBusy()
    return { accountId, session: session.id, known, giveBack, recording: false }
  }).pipe(storeErrors)

/** A turn that is about to be asked. */
interface Asked {
  readonly accountId: string
  readonly session: SessionRow
  readonly messages: ReadonlyArray<SaidMessage>
}

/**
 * Conversations of the legacy chat, recorded for their account. A session takes no part in what is asked: callers send all of a
 * conversation with every request.
 */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** The account's session of this `sessionId` as it is, or a new one. */
    readonly open: (accountId: string, session: NewSession) => Effect.Effect<SessionRow, SessionsFull | Unavailable>
    /** By its id; undefined when there is none, or it is another account's. */
    readonly find: (accountId: string, id: string) => Effect.Effect<SessionRow | undefined, Unavailable>
    /** By the caller's own `session_id` or, where none has that, by its id. */
    readonly named: (accountId: string, name: string) => Effect.Effect<SessionRow | undefined, Unavailable>
    /** Keeps room in the session for what is new of a request and for an answer. */
    readonly admit: (asked: Asked) => Effect.Effect<Admission, SessionsFull | SessionsBusy | Unavailable>
    /** Gives back the room of a turn that came to nothing; one that is being recorded keeps it until it is. */
    readonly release: (admission: Admission) => Effect.Effect<void>
    /**
     * Appends what is new of a turn, once. Never fails, and soon answers: while the database is away it is tried for two minutes,
     * and what is not recorded by then is lost but for a line in the log.
     */
    readonly record: (admission: Admission, turn: Turn) => Effect.Effect<void>
    /** A page of its messages; none when it begins where it ends. */
    readonly messages: (session: string, page: Page) => Effect.Effect<ReadonlyArray<MessageRow>, Unavailable>
  }
>()("tollgate/sessions/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const recording = yield* FiberSet.make<void>()
      yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(recording), STOP_PATIENCE))
      const reserved = new Reserved()

      const record = (admission: Admission, turn: Turn): Effect.Effect<void> =>
        Effect.suspend(() => {
          admission.recording = true
          const lost = `${turn.name} is not recorded in session ${admission.session}`
          const appended = append(sql, admission, turn).pipe(
            Effect.retry(RECORD_RETRY),
            Effect.flatMap((done) => (done ? Effect.void : Effect.logWarning(`${lost}: it has no room`))),
            Effect.catchCause((cause) => Effect.logWarning(lost, cause)),
            Effect.ensuring(Effect.sync(admission.giveBack))
          )
          return Effect.flatMap(FiberSet.run(recording, appended), (fiber) =>
            Effect.asVoid(Effect.timeoutOption(Fiber.await(fiber), RECORD_PATIENCE))
          )
        })

      return Sessions.of({
        open: (accountId, session) =>
          Effect.gen(function* () {
            const { sessionId } = session
            const existing = sessionId === undefined ? undefined : yield* sessionBySessionId(sql, accountId, sessionId)
            return existing ?? (yield* openIn(sql, accountId, session))
          }).pipe(storeErrors),
        find: (accountId, id) => storeErrors(sessionById(sql, accountId, id)),
        named: (accountId, name) =>
          // No session has such a name, and the database would refuse it or take it for another.
          name.includes("\0") || !name.isWellFormed()
            ? Effect.undefined
            : storeErrors(
                Effect.flatMap(sessionBySessionId(sql, accountId, name), (session) =>
                  session === undefined ? sessionById(sql, accountId, name) : Effect.succeed(session)
                )
              ),
        admit: (asked) => admitIn(sql, reserved, asked),
        release: (admission) =>
          Effect.sync(() => {
            if (!admission.recording) admission.giveBack()
          }),
        record,
        messages: (session, page) => storeErrors(messagesOf(sql, session, page))
      })
    })
  )
}
