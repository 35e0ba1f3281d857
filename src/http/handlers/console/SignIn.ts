import { Duration, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { type ConsoleSession, SignInCode, SignInRequest, type SignInSent } from "../../../../schemas/console/SignIn.ts"
import { browserOf } from "../../../account/Browsers.ts"
import { CODE_LIFE } from "../../../account/Codes.ts"
import { csrfTokenOf } from "../../../account/OwnerSessions.ts"
import { type SentSignIn, SignIn } from "../../../account/SignIn.ts"
import { type PhoneState, Phones } from "../../../billing/Phones.ts"
import { decoder } from "../../../dialects/Decode.ts"
import { usdFromNano } from "../../../domain/Money.ts"
import { PublicUrl } from "../../../platform/outbound/PublicUrl.ts"
import { readJson } from "../../edge/Body.ts"
import { Exchange } from "../../edge/Exchange.ts"
import { sessionCookie } from "./Cookie.ts"
import { operations } from "../../edge/Operations.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"

const decodeRequest = decoder(SignInRequest, { strict: true })
const decodeCode = decoder(SignInCode, { strict: true })

const sent = ({ printedCode, signInId }: SentSignIn): SignInSent => ({
  object: "sign_in",
  status: "code_sent",
  sign_in_id: signInId,
  expires_in: Duration.toSeconds(CODE_LIFE),
  ...(printedCode === undefined ? {} : { sandbox_code: printedCode })
})

/** A session as shown to the holder of its token. */
export const sessionOf = (
  account: { readonly id: string; readonly email: string },
  token: string,
  { credited, last2 }: PhoneState
): ConsoleSession => ({
  object: "session",
  account: { id: account.id, object: "account", email: account.email },
  csrf_token: csrfTokenOf(token),
  phone_verified: last2 !== null,
  phone_last2: last2,
  starter_credit_usd: usdFromNano(credited)
})

/** `/console/sign-in`: owners sign in with a code that they receive by email. */
export const consoleSignInHandlers = Effect.gen(function* () {
  const phones = yield* Phones
  const publicUrl = yield* PublicUrl
  const signIn = yield* SignIn

  const request = Effect.fnUntraced(function* (request: ApiRequest) {
    const { address } = yield* Exchange
    const { email } = yield* Effect.fromResult(decodeRequest(yield* readJson(request)))
    return HttpServerResponse.jsonUnsafe(sent(yield* signIn.request(email, address())))
  })

  const verify = Effect.fnUntraced(function* (request: ApiRequest) {
    const { address, byHttps, requestId } = yield* Exchange
    const { code, email, sign_in_id: signInId } = yield* Effect.fromResult(decodeCode(yield* readJson(request)))
    const origin = { browser: browserOf(request.headers["user-agent"]), address: address() }
    const proof = { email, signInId, code }
    const { account, read, token } = yield* signIn.verify(proof, { requestId, origin }, phones.of)
    return HttpServerResponse.jsonUnsafe(sessionOf(account, token, read), {
      headers: { "set-cookie": sessionCookie(publicUrl.base(), byHttps()).of(token) }
    })
  })

  return operations("consoleSignIn", {
    requestCode: ({ request: incoming }) => request(incoming),
    verifyCode: ({ request: incoming }) => verify(incoming)
  })
})
