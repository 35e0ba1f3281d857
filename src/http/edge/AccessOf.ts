/** The access of each operation, by the middleware that its endpoint declares. */
import { Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import {
  AccountAccess,
  InferenceAccess,
  LegacyAccess,
  ManagementAccess,
  MessagesAccess,
  OpenAccess,
  OperatorAccess,
  OperatorSessionAccess,
  OperatorSignInAccess,
  OwnerAccess,
  SignInAccess
} from "../../../schemas/Access.ts"
import { type Access, bearerOf, eitherOf, makeByInferenceKey, makeOpenAccess } from "./Access.ts"
import { makeByManagementKey, makeKeyOrSession } from "./KeyOrSession.ts"
import { makeOperatorAccess, makeOperatorSessionAccess, makeOperatorSignInAccess } from "./OperatorAccess.ts"
import { makeOwnerAccess, makeSignInAccess } from "./OwnerAccess.ts"

/** The access of operations that count their requests themselves. */
const uncounted: Access = (_, handle) => handle

/** Returns what gives the access of an endpoint. */
export const makeAccessOf = Effect.gen(function* () {
  const byInferenceKey = yield* makeByInferenceKey
  const keyOrSession = yield* makeKeyOrSession
  const byBearer = byInferenceKey(bearerOf)
  const accesses = new Map<string, Access>([
    [InferenceAccess.key, byBearer],
    [LegacyAccess.key, byBearer],
    [MessagesAccess.key, byInferenceKey(eitherOf)],
    [AccountAccess.key, keyOrSession(byBearer)],
    [ManagementAccess.key, keyOrSession(yield* makeByManagementKey)],
    [OperatorAccess.key, yield* makeOperatorAccess],
    [OperatorSignInAccess.key, yield* makeOperatorSignInAccess],
    [OperatorSessionAccess.key, yield* makeOperatorSessionAccess],
    [OwnerAccess.key, yield* makeOwnerAccess],
    [SignInAccess.key, yield* makeSignInAccess],
    [OpenAccess.key, yield* makeOpenAccess]
  ])
  const found = new WeakMap<HttpApiEndpoint.Top, Access>()
  return (endpoint: HttpApiEndpoint.Top): Access => {
    const known = found.get(endpoint)
    if (known !== undefined) return known
    const access = [...endpoint.middlewares].map(({ key }) => accesses.get(key)).find((one) => one !== undefined)
    found.set(endpoint, access ?? uncounted)
    return access ?? uncounted
  }
})
