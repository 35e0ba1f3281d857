import { Context, Data, Effect, Fiber, FiberSet, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { newResourceId } from "../platform/Ids.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { ReservedSpace } from "./ReservedSpace.ts"
import {
  addToTotal,
  appendMessages,
  digestsAmong,
  dropUnused,
  hasTurn,
  insertSession,
  lastDigests,
  lockSession,
  lockTotal,
  type MessageRow,
  messagesOf,
  type Page,
  SESSION_BYTES,
  type SessionRow,
  sessionById,
  sessionBySessionId,
  totalOf
} from "./SessionsSql.ts"
import {
  bytesOf,
  endsWith,
  countKnown,
  messageOfAnswer,
  messagesOfRequest,
  type Parts,
  partsOf,
  type RequestMessage,
  type Turn
} from "./Turn.ts"

/** The maximum number of sessions of an account, because a session costs its client nothing. */
export const MAX_SESSIONS_PER_ACCOUNT = 10_000

/** The maximum number of messages of a session. A request has at most 100. */
export const MAX_MESSAGES_PER_SESSION = 10_000

/** The maximum size of a session: 16 MiB, because an export sends all of it. A message counts as its JSON plus 256 bytes. */
export const MAX_SESSION_BYTES = 16 * 1_048_576

/** The maximum size of all sessions of an account, including their metadata: 256 MiB. */
export const MAX_ACCOUNT_BYTES = 256 * 1_048_576

/** The room reserved for a response before its size is known. A long response may exceed it. */
const ANSWER_BYTES = 131_072

/**
 * How far a session may exceed its limits: to twice their values. A node admits a turn only if there is room beside the turns it
 * admitted before. It does not know the turns of other nodes or the length of the response, and it never drops a response to an
 * admitted turn.
 */
const OVERRUN = 2

/** The maximum number of messages of a request, and therefore the longest possible overlap with a session. */
const REQUEST_MESSAGES = 100

/** The lifetime of an idempotency key, so that a repeated turn is recognized. */
const TURN_KNOWN_MS = 24 * 3_600_000

/**
 * How long a response waits for its recording, so that the next read of the session includes it. A slower recording continues in
 * the background.
 */
const RECORD_PATIENCE = "250 millis"

/** How long the gateway retries a recording while the database is unavailable, with pauses from 0.2 s to 5 s. */
const RECORD_RETRY = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("5 seconds")]).pipe(
  Schedule.upTo({ duration: "2 minutes" })
)

/** How long running recordings may take when the service stops. */
const STOP_PATIENCE = "5 seconds"

/** A session or account has reached the limit that `bound` names. */
export class SessionsFull extends Data.TaggedError("SessionsFull")<{
  readonly bound:
    | "sessions of the account"
    | "bytes of the account"
    | "messages of the session"
    | "bytes of the session"
}> {}

/** There is room, but turns that are still running or being recorded may need it. */
export class SessionsBusy extends Data.TaggedError("SessionsBusy")<{}> {}

export interface NewSession {
  readonly sessionId: string | undefined
  readonly metadata: unknown
  readonly model: string | undefined
}

/**
 * The room that a turn reserves in its session before its request runs. The caller must release it, whatever happens to the turn.
 */
export interface Admission {
  readonly accountId: string
  readonly session: string
  /** How many of the request's messages, after its instructions, the session already had. */
  readonly known: number
  /** Gives the room back, once. A recording does this when it ends. */
  readonly giveBack: () => void
  /** Whether a recording has taken over the room. */
  recording: boolean
}

const jsonBytes = (json: string): number => SESSION_BYTES + Buffer.byteLength(json, "utf8")

/**
 * Returns a request's messages without the instructions that the session already has, even if those are far before its `last`
 * messages.
 */
const withoutKnownInstructions = (
  sql: SqlClient.SqlClient,
  id: string,
  messages: ReadonlyArray<RequestMessage>,
  last: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    const { instructions, talk } = partsOf(messagesOfRequest(messages))
    const near = new Set(last)
    const missed = instructions.filter(({ digest }) => !near.has(digest))
    // Fewer digests than requested means that they are all of the session's messages.
    const isSeen = missed.length === 0 || last.length < REQUEST_MESSAGES
    const digests = missed.map(({ digest }) => digest)
    const far = new Set(isSeen ? [] : yield* digestsAmong(sql, id, digests))
    return { instructions: missed.filter(({ digest }) => !far.has(digest)), talk } satisfies Parts
  })

/** Appends the new messages of a turn in a transaction. Returns false when they do not fit. */
const append = (sql: SqlClient.SqlClient, { accountId, known, session: id }: Admission, turn: Turn) =>
  Effect.gen(function* () {
    const session = yield* lockSession(sql, id)
    if (session === undefined || (yield* hasTurn(sql, id, turn.name, TURN_KNOWN_MS))) return true
    const last = yield* lastDigests(sql, id, REQUEST_MESSAGES + 1)
    const { instructions, talk } = yield* withoutKnownInstructions(sql, id, turn.messages, last)
    const answer = messageOfAnswer(turn)
    if (turn.free && instructions.length === 0 && endsWith(last, [...talk, answer])) return true
    const messages = [...instructions, ...talk.slice(Math.max(known, countKnown(last, talk))), answer]
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
  reserved: ReservedSpace,
  { accountId, messages, session }: TurnRequest
): Effect.Effect<Admission, SessionsFull | SessionsBusy | Unavailable> =>
  Effect.gen(function* () {
    const last = yield* lastDigests(sql, session.id, REQUEST_MESSAGES)
    const { instructions, talk } = yield* withoutKnownInstructions(sql, session.id, messages, last)
    const known = countKnown(last, talk)
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

/** A turn before its request runs. */
interface TurnRequest {
  readonly accountId: string
  readonly session: SessionRow
  readonly messages: ReadonlyArray<RequestMessage>
}

/**
 * Recorded conversations of the legacy chat. A session does not influence requests: clients send the whole conversation with every
 * request.
 */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** Returns the account's session with this `sessionId`, or a new one. */
    readonly open: (accountId: string, session: NewSession) => Effect.Effect<SessionRow, SessionsFull | Unavailable>
    /** Returns the session with this ID; undefined when there is none or it belongs to another account. */
    readonly find: (accountId: string, id: string) => Effect.Effect<SessionRow | undefined, Unavailable>
    /** Finds a session by the client's own `session_id` or, if none matches, by its ID. */
    readonly findByName: (accountId: string, name: string) => Effect.Effect<SessionRow | undefined, Unavailable>
    /** Reserves room in the session for the new messages of a request and for the response. */
    readonly admit: (turn: TurnRequest) => Effect.Effect<Admission, SessionsFull | SessionsBusy | Unavailable>
    /** Gives back the room of a turn without a response. A turn that is being recorded keeps it until the recording ends. */
    readonly release: (admission: Admission) => Effect.Effect<void>
    /**
     * Appends the new messages of a turn, once. It never fails and returns soon. While the database is unavailable it retries for
     * two minutes; after that the turn is lost, and the log says so.
     */
    readonly record: (admission: Admission, turn: Turn) => Effect.Effect<void>
    /** Returns a page of the session's messages. The page is empty when it begins at its end. */
    readonly messages: (session: string, page: Page) => Effect.Effect<ReadonlyArray<MessageRow>, Unavailable>
    /** Deletes one session that had no turn for this long. Returns how many it deleted. */
    readonly dropUnused: (unusedMs: number) => Effect.Effect<number, Unavailable>
  }
>()("tollgate/sessions/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const recording = yield* FiberSet.make<void>()
      yield* Effect.addFinalizer(() => Effect.timeoutOption(FiberSet.awaitEmpty(recording), STOP_PATIENCE))
      const reserved = new ReservedSpace()

      const record = (admission: Admission, turn: Turn): Effect.Effect<void> =>
        Effect.suspend(() => {
          admission.recording = true
          const lost = `the gateway did not record ${turn.name} in session ${admission.session}`
          const appended = append(sql, admission, turn).pipe(
            Effect.retry(RECORD_RETRY),
            Effect.flatMap((done) => (done ? Effect.void : Effect.logWarning(`${lost}: the session has no room`))),
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
        findByName: (accountId, name) =>
          // No session can have such a name. The database would refuse it or confuse it with another.
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
        messages: (session, page) => storeErrors(messagesOf(sql, session, page)),
        dropUnused: (unusedMs) => storeErrors(dropUnused(sql, unusedMs))
      })
    })
  )
}
