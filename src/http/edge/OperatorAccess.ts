/** Admits operators by keys of their own kind, which work nowhere else. */
import { Effect } from "effect"
import { OperatorCaller } from "../../../schemas/Access.ts"
import { isWellFormedKey } from "../../account/Keys.ts"
import { isOperatorKey, OperatorKeys } from "../../account/OperatorKeys.ts"
import { type Failure, failure } from "../../domain/Failure.ts"
import { type Access, factsOf, makeCounter, makeTried } from "./Access.ts"

const missing = failure({ _tag: "MissingApiKey" })
const invalid = failure({ _tag: "InvalidApiKey" })
const wrongKind = failure({ _tag: "WrongKeyKind", needed: "operator" })

/** The access of operators by their keys. */
export const makeOperatorAccess = Effect.gen(function* () {
  const keys = yield* OperatorKeys
  const { count } = yield* makeCounter
  const tried = yield* makeTried

  /** A key of an account is not even looked up here: its form is enough. */
  const read = (authorization: string): Effect.Effect<string, Failure> => {
    if (authorization === "") return Effect.fail(missing)
    const key = /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ""
    if (isWellFormedKey(key)) return Effect.fail(wrongKind)
    if (!isOperatorKey(key)) return Effect.fail(invalid)
    return keys.find(key).pipe(
      Effect.mapError((error) => failure({ _tag: "StoreUnavailable" }, error)),
      Effect.flatMap((id) => (id === undefined ? Effect.fail(invalid) : Effect.succeed(id)))
    )
  }

  const access: Access<OperatorCaller> = ({ endpoint, exchange, headers }, handle) =>
    Effect.gen(function* () {
      const { authorization = "" } = headers
      const keyId = yield* tried(exchange, authorization, read(authorization))
      exchange.span?.set({ "svc.operator_key_id": keyId })
      // A window per key. Scales of accounts do not apply.
      yield* count(exchange, { keyId, accountId: keyId, limitScale: 1 }, factsOf(endpoint).limit)
      return yield* Effect.provideService(handle, OperatorCaller, { keyId })
    })
  return access
})
