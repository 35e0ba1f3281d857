import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Owner } from "../../../../schemas/Access.ts"
import { Audit } from "../../../account/Audit.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { OwnerSessions } from "../../../account/OwnerSessions.ts"
import { Phones } from "../../../billing/Phones.ts"
import { PublicUrl } from "../../../platform/outbound/PublicUrl.ts"
import { Exchange } from "../../edge/Exchange.ts"
import { answer, asOwner, makeMutate, withoutBody } from "../management/Answers.ts"
import { type SessionCookie, sessionCookie } from "./Cookie.ts"
import { sessionOf } from "./SignIn.ts"
import { operations } from "../../edge/Operations.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"

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

  const endOne = Effect.fnUntraced(function* (request: ApiRequest) {
    const { sessionId: id } = yield* Owner
    const asked = { request, type: "session.ended", resource: { type: "session", id } }
    return yield* mutate(asOwner, asked, ({ accountId }) =>
      Effect.as(sessions.end(accountId, id), { object: "session", ended: 1 })
    )
  })

  const endAll = Effect.fnUntraced(function* (request: ApiRequest) {
    const { accountId: id } = yield* Owner
    const resource = { type: "account", id }
    return yield* mutate(asOwner, { request, type: "session.all_ended", resource }, ({ accountId, actor }) =>
      Effect.gen(function* () {
        const ended = yield* sessions.endAll(accountId)
        yield* audit.append({ accountId, actor, type: "session.all_ended", resource, changes: { ended } })
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
    endSession: ({ request }) => forgotten(withoutBody(request, endOne(request))),
    endSessions: ({ request }) => forgotten(withoutBody(request, endAll(request)))
  })
})
