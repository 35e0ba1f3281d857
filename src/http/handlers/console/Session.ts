import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Owner } from "../../../../schemas/Access.ts"
import type { OwnerSession } from "../../../../schemas/console/Sessions.ts"
import { Audit } from "../../../account/Audit.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { OwnerSessions } from "../../../account/OwnerSessions.ts"
import type { ListedSession } from "../../../account/OwnerSessionsSql.ts"
import { Phones } from "../../../billing/Phones.ts"
import { failure } from "../../../domain/Failure.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import { PublicUrl } from "../../../platform/outbound/PublicUrl.ts"
import { Exchange } from "../../edge/Exchange.ts"
import { answer, asOwner, makeMutate, pageOf, withoutBody } from "../management/Answers.ts"
import { type SessionCookie, sessionCookie } from "./Cookie.ts"
import { sessionOf } from "./SignIn.ts"
import { operations } from "../../edge/Operations.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"

const listed = (row: ListedSession, currentId: string): OwnerSession => ({
  id: row.id,
  object: "session",
  current: row.id === currentId,
  browser: row.browser,
  address: row.address,
  created_at: secondsOf(row.created_at),
  seen_at: secondsOf(row.seen_at),
  ends_at: secondsOf(row.ends_at)
})

/** `/console/session` and `/console/sessions`: the signed-in owner's sessions. */
export const consoleSessionHandlers = Effect.gen(function* () {
  const audit = yield* Audit
  const mutate = makeMutate(yield* Mutations)
  const phones = yield* Phones
  const publicUrl = yield* PublicUrl
  const sessions = yield* OwnerSessions

  const cookie: Effect.Effect<SessionCookie> = Effect.map(Exchange, ({ byHttps }) =>
    sessionCookie(publicUrl.base(), byHttps())
  )

  /** Deletes the cookie with the session. If ending the session failed, the cookie stays, so that the owner can try again. */
  const forgotten = <E, R>(ended: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.zipWith(ended, cookie, (response, { none }) => HttpServerResponse.setHeader(response, "set-cookie", none))

  const endOne = (request: ApiRequest, id: string) => {
    const write = { request, type: "session.ended", resource: { type: "session", id } }
    return mutate(asOwner, write, ({ accountId }) =>
      Effect.flatMap(sessions.end(accountId, id), (ended) =>
        ended
          ? Effect.succeed({ object: "session", ended: 1 })
          : Effect.fail(failure({ _tag: "NotFound", what: "session", id }))
      )
    )
  }

  const endMany = Effect.fnUntraced(function* (
    request: ApiRequest,
    type: "session.all_ended" | "session.others_ended",
    kept?: string
  ) {
    const { accountId: id } = yield* Owner
    const resource = { type: "account", id }
    return yield* mutate(asOwner, { request, type, resource }, ({ accountId, actor }) =>
      Effect.gen(function* () {
        const ended = yield* sessions.endAll(accountId, kept)
        yield* audit.append({ accountId, actor, type, resource, changes: { ended } })
        return { object: "session", ended }
      })
    )
  })

  return operations("consoleSession", {
    getSession: ({ request }) =>
      answer(
        Effect.gen(function* () {
          const { accountId: id, email } = yield* Owner
          const [token = ""] = (yield* cookie).tokensIn(request.headers["cookie"])
          return sessionOf({ id, email }, token, yield* phones.of(id))
        }),
        (session) => session
      ),
    endSession: ({ request }) =>
      Effect.flatMap(Owner, ({ sessionId }) => forgotten(withoutBody(request, endOne(request, sessionId)))),
    listSessions: ({ query }) =>
      Effect.flatMap(Owner, ({ accountId, sessionId }) =>
        answer(sessions.list(accountId, pageOf(query)), ({ next, rows }) => ({
          object: "list",
          data: rows.map((row) => listed(row, sessionId)),
          next_cursor: next
        }))
      ),
    endSessions: ({ request }) => forgotten(withoutBody(request, endMany(request, "session.all_ended"))),
    endOtherSessions: ({ request }) =>
      Effect.flatMap(Owner, ({ sessionId }) =>
        withoutBody(request, endMany(request, "session.others_ended", sessionId))
      ),
    endListedSession: ({ params: { session_id: id }, request }) =>
      Effect.flatMap(Owner, ({ sessionId }) => {
        const ended = withoutBody(request, endOne(request, id))
        return id === sessionId ? forgotten(ended) : ended
      })
  })
})
