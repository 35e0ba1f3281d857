import { Effect, Option, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller } from "../../../schemas/Access.ts"
import { type Session, type SessionMessage, SessionRequest } from "../../../schemas/inference/Sessions.ts"
import { Mutations } from "../../account/Mutations.ts"
import { decoder } from "../../dialects/Decode.ts"
import { type Failure, failure, invalid, storeFailure } from "../../domain/Failure.ts"
import { usdFromNano } from "../../domain/Money.ts"
import { secondsOf } from "../../domain/UnixTime.ts"
import {
  MAX_ACCOUNT_BYTES,
  MAX_MESSAGES_PER_SESSION,
  MAX_SESSION_BYTES,
  MAX_SESSIONS_PER_ACCOUNT,
  Sessions,
  type SessionsFull
} from "../../sessions/Sessions.ts"
import type { MessageRow, SessionRow } from "../../sessions/SessionsSql.ts"
import { readJson } from "../edge/Body.ts"
import { Exchange } from "../edge/Exchange.ts"
import { claimOf } from "../edge/Idempotency.ts"
import { operations } from "../edge/Operations.ts"
import type { ApiRequest } from "../edge/ApiRequest.ts"

/** The page size of an export, because a session can be larger than an export should hold in memory. */
const PAGE = { limit: 100, maxBytes: 1_048_576 } as const

const decode = decoder(SessionRequest, { strict: true })

const bounds = {
  "sessions of the account": `must not exceed ${MAX_SESSIONS_PER_ACCOUNT} sessions per account`,
  "bytes of the account": `must not exceed ${MAX_ACCOUNT_BYTES} bytes in all sessions of the account`,
  "messages of the session": `must not exceed ${MAX_MESSAGES_PER_SESSION} messages per session`,
  "bytes of the session": `must not exceed ${MAX_SESSION_BYTES} bytes per session`
} as const satisfies Record<SessionsFull["bound"], string>

/** Names the limit that was reached, and the field that exceeds it. */
export const fullFailure = ({ bound }: SessionsFull, field: string): Failure => invalid(field, bounds[bound])

/** A session as the API shows it. */
export const sessionOf = (row: SessionRow): Session => ({
  id: row.id,
  object: "session",
  created_at: secondsOf(row.created_at),
  updated_at: secondsOf(row.updated_at),
  session_id: row.session_id,
  model: row.model,
  metadata: JSON.parse(row.metadata),
  message_count: row.messages
})

/** A message of an export. */
export const messageOf = (row: MessageRow): SessionMessage => ({
  role: row.role,
  content: JSON.parse(row.content),
  created_at: secondsOf(row.created_at),
  ...(row.model === null ? {} : { model: row.model }),
  ...(row.usage === null ? {} : { usage: JSON.parse(row.usage) }),
  ...(row.cost === null ? {} : { cost_usd: usdFromNano(row.cost) })
})

/** The text of an export, page by page. It contains the messages that existed when the export began. */
const exported = (sessions: Sessions["Service"], session: SessionRow) => {
  const { id, messages: end } = session
  const page = (from: number) =>
    Effect.map(sessions.messages(id, { from, end, ...PAGE }), (rows) => {
      const next = from + rows.length
      const texts = rows.map((row, index) => `${from + index === 0 ? "" : ","}${JSON.stringify(messageOf(row))}`)
      return [texts, rows.length === 0 || next >= end ? Option.none() : Option.some(next)] as const
    })
  const head = `{"object":"session.export","session":${JSON.stringify(sessionOf(session))},"messages":[`
  return Stream.make(head).pipe(
    Stream.concat(Stream.paginate(0, page)),
    Stream.concat(Stream.sync(() => `],"exported_at":${Math.floor(Date.now() / 1000)}}`)),
    Stream.encodeText
  )
}

const handlers = Effect.gen(function* () {
  const sessions = yield* Sessions
  const mutations = yield* Mutations
  const create = Effect.fnUntraced(function* (request: ApiRequest) {
    const { accountId } = yield* Caller
    const { requestId } = yield* Exchange
    const body = yield* readJson(request)
    const { metadata, model, session_id } = yield* Effect.fromResult(decode(body))
    const session = { sessionId: session_id ?? undefined, metadata, model: model ?? undefined }
    const claim = yield* Effect.fromResult(claimOf(request.headers["idempotency-key"], "POST", "/sessions", body))
    const work = Effect.map(
      Effect.mapError(sessions.open(accountId, session), (error) =>
        error._tag === "SessionsFull" ? fullFailure(error, "body") : error
      ),
      sessionOf
    )
    const { answer, replayed } = yield* Effect.mapError(
      mutations.once({ accountId, requestId, claim, work }),
      (error) => (error._tag === "Unavailable" ? storeFailure(error) : error)
    )
    return HttpServerResponse.jsonUnsafe(answer, { headers: replayed ? { "idempotency-replayed": "true" } : {} })
  })
  const exporting = Effect.fnUntraced(function* (id: string) {
    const { accountId } = yield* Caller
    // No other text is an id, and not every text can be a query parameter.
    const session = /^[0-9a-f]{24}$/.test(id)
      ? yield* Effect.mapError(sessions.find(accountId, id), storeFailure)
      : undefined
    if (session === undefined) return yield* failure({ _tag: "NotFound", what: "session", id })
    return HttpServerResponse.stream(exported(sessions, session), { contentType: "application/json" })
  })
  return { create, exporting }
})

/** `POST /sessions` and `GET /sessions/{id}/export`. */
export const sessionsHandlers = Effect.gen(function* () {
  const { create, exporting } = yield* handlers
  return operations("sessions", {
    createSession: ({ request }) => create(request),
    exportSession: ({ params }) => exporting(params.id)
  })
})
