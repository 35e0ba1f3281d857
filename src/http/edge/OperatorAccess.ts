/** Admits operators: by keys of their own kind, which work nowhere else, and by the sessions that such keys begin. */
import { Effect } from "effect"
import { OperatorCaller, CurrentOperator, type SignedInOperator } from "../../../schemas/Access.ts"
import { isWellFormedKey } from "../../account/Keys.ts"
import { isOperatorKey, OperatorKeys } from "../../account/OperatorKeys.ts"
import { OperatorSessions } from "../../account/OperatorSessions.ts"
import { notInForm } from "../../auth/Auth.ts"
import { type Failure, failure, storeFailure } from "../../domain/Failure.ts"
import { PublicUrl } from "../../platform/outbound/PublicUrl.ts"
import { operatorCookie } from "../handlers/console/Cookie.ts"
import { type Access, factsOf, makeCounter, makeTried } from "./Access.ts"
import { fromHere, makeByCookie, notSignedIn } from "./OwnerAccess.ts"

const missing = failure({ _tag: "MissingApiKey" })
const invalid = failure({ _tag: "InvalidApiKey" })
const wrongKind = failure({ _tag: "WrongKeyKind", needed: "operator" })

/** The rate limit window of a key and of its sessions, which share it. Scales of accounts do not apply. */
const countedAs = ({ keyId }: { readonly keyId: string }) => ({ keyId, accountId: keyId, limitScale: 1 })

const inSpan = ({ keyId }: { readonly keyId: string }) => ({ "svc.operator_key_id": keyId })

/** The access of operators by their keys. */
const makeByOperatorKey = Effect.gen(function* () {
  const keys = yield* OperatorKeys
  const { count } = yield* makeCounter
  const tried = yield* makeTried

  /** Rejects a key of an account by its form, without a lookup. */
  const read = (authorization: string): Effect.Effect<string, Failure> => {
    if (authorization === "") return Effect.fail(missing)
    const key = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
    if (key === undefined) return Effect.fail(notInForm.authorization)
    if (isWellFormedKey(key)) return Effect.fail(wrongKind)
    if (!isOperatorKey(key)) return Effect.fail(invalid)
    return keys.find(key).pipe(
      Effect.mapError(storeFailure),
      Effect.flatMap((id) => (id === undefined ? Effect.fail(invalid) : Effect.succeed(id)))
    )
  }

  const access: Access<OperatorCaller> = ({ endpoint, exchange, headers }, handle) =>
    Effect.gen(function* () {
      const { authorization = "" } = headers
      const keyId = yield* tried(exchange, authorization, read(authorization))
      exchange.span?.set(inSpan({ keyId }))
      yield* count(exchange, countedAs({ keyId }), factsOf(endpoint).limit)
      return yield* Effect.provideService(handle, OperatorCaller, { keyId })
    })
  return access
})

/** Reads the sessions of operators. */
const makeByOperatorSession = Effect.gen(function* () {
  const byCookie = yield* makeByCookie
  const sessions = yield* OperatorSessions
  const find = (token: string): Effect.Effect<SignedInOperator, Failure> =>
    sessions.find(token).pipe(
      Effect.mapError(storeFailure),
      Effect.flatMap((row) =>
        row === undefined
          ? Effect.fail(notSignedIn)
          : Effect.succeed({ sessionId: row.id, keyId: row.key_id, keyName: row.key_name, endsAt: row.ends_at })
      )
    )
  return byCookie<SignedInOperator>({ cookie: operatorCookie, find, countedAs, inSpan })
})

/** The access of operators by their keys, and by their sessions for requests without a bearer. */
export const makeOperatorAccess = Effect.gen(function* () {
  const byKey = yield* makeByOperatorKey
  const bySession = yield* makeByOperatorSession
  const access: Access<OperatorCaller> = (request, handle) => {
    const { endpoint, exchange, headers } = request
    const { authorization = "" } = headers
    if (authorization !== "" || !bySession.has(exchange, headers)) return byKey(request, handle)
    return bySession.as({ ...request, limit: factsOf(endpoint).limit }, ({ keyId }) =>
      Effect.provideService(handle, OperatorCaller, { keyId })
    )
  }
  return access
})

/** The access of signing in: by a key alone, and from a page of this service where a browser asks. */
export const makeOperatorSignInAccess = Effect.gen(function* () {
  const byKey = yield* makeByOperatorKey
  const publicUrl = yield* PublicUrl
  const access: Access<OperatorCaller> = (request, handle) =>
    Effect.andThen(fromHere(request.endpoint, request.headers, publicUrl.base()), byKey(request, handle))
  return access
})

/** The access to a session itself: by its cookie alone. */
export const makeOperatorSessionAccess = Effect.map(
  makeByOperatorSession,
  ({ as }): Access<CurrentOperator> =>
    (request, handle) =>
      as({ ...request, limit: factsOf(request.endpoint).limit }, (signed) =>
        Effect.provideService(handle, CurrentOperator, signed)
      )
)
