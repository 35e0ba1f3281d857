import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { OperatorCaller, CurrentOperator } from "../../../../schemas/Access.ts"
import type { OperatorSession } from "../../../../schemas/operator/Session.ts"
import { browserOf } from "../../../account/Browsers.ts"
import { OperatorSessions } from "../../../account/OperatorSessions.ts"
import type { OperatorSessionRow } from "../../../account/OperatorSessionsSql.ts"
import { csrfTokenOf } from "../../../account/OwnerSessions.ts"
import { failure } from "../../../domain/Failure.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import { PublicUrl } from "../../../platform/outbound/PublicUrl.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"
import { Exchange } from "../../edge/Exchange.ts"
import { operations } from "../../edge/Operations.ts"
import { operatorCookie } from "../console/Cookie.ts"
import { withoutBody } from "../management/Answers.ts"

const sessionOf = (
  row: Pick<OperatorSessionRow, "ends_at" | "key_id" | "key_name">,
  token: string
): OperatorSession => ({
  object: "operator_session",
  key: { id: row.key_id, name: row.key_name },
  csrf_token: csrfTokenOf(token),
  ends_at: secondsOf(row.ends_at)
})

/** The cookie of operators' sessions as this request reached the gateway. */
const makeCookie = Effect.map(PublicUrl, (publicUrl) =>
  Effect.map(Exchange, ({ byHttps }) => operatorCookie(publicUrl.base(), byHttps()))
)

/** `POST /operator/session`: an operator exchanges a key for a session. */
export const operatorSignInHandlers = Effect.gen(function* () {
  const cookie = yield* makeCookie
  const sessions = yield* OperatorSessions
  const begin = (request: ApiRequest) =>
    Effect.gen(function* () {
      const { keyId } = yield* OperatorCaller
      const { address, requestId } = yield* Exchange
      const origin = { browser: browserOf(request.headers["user-agent"]), address: address() }
      const session = yield* sessions.begin({ keyId, requestId, origin })
      // The key was revoked since it was read.
      if (session === undefined) return yield* failure({ _tag: "InvalidApiKey" })
      return HttpServerResponse.jsonUnsafe(sessionOf(session, session.token), {
        headers: { "set-cookie": (yield* cookie).of(session.token) }
      })
    })
  return operations("operatorSignIn", {
    beginOperatorSession: ({ request }) => withoutBody(request, begin(request))
  })
})

/** `/operator/session` of an operator who has signed in. */
export const operatorSessionHandlers = Effect.gen(function* () {
  const cookie = yield* makeCookie
  const sessions = yield* OperatorSessions
  const end = Effect.gen(function* () {
    const { endsAt: ends_at, keyId: key_id, keyName: key_name, sessionId: id } = yield* CurrentOperator
    const { requestId } = yield* Exchange
    yield* sessions.end({ id, key_id, key_name, ends_at }, requestId)
    const body = { object: "operator_session", ended: true }
    return HttpServerResponse.jsonUnsafe(body, { headers: { "set-cookie": (yield* cookie).none } })
  })
  return operations("operatorSession", {
    getOperatorSession: ({ request }) =>
      Effect.gen(function* () {
        const { endsAt: ends_at, keyId: key_id, keyName: key_name } = yield* CurrentOperator
        const [token = ""] = (yield* cookie).tokensIn(request.headers["cookie"])
        return HttpServerResponse.jsonUnsafe(sessionOf({ key_id, key_name, ends_at }, token))
      }),
    endOperatorSession: ({ request }) => withoutBody(request, end)
  })
})
