/** Admits keys as bearers, and owners by their sessions, to the operations that accept both. A bearer takes precedence. */
import { Effect } from "effect"
import { Caller, type Principal, type SignedInOwner } from "../../../schemas/Access.ts"
import { allows, scopes } from "../../auth/Scopes.ts"
import { failure } from "../../domain/Failure.ts"
import { type Access, type Admit, bearerOf, factsOf, makeAdmitted, makeCounter } from "./Access.ts"
import { makeBySession } from "./OwnerAccess.ts"

/** What an owner may do: everything that a management key with all scopes may do. */
const principalOf = ({ accountId, limitScale, sessionId }: SignedInOwner): Principal => ({
  keyId: sessionId,
  accountId,
  limitScale,
  scopes,
  projectId: null,
  kind: "session",
  budgets: [],
  budgetsEpoch: 0
})

/** The access of management keys. */
export const makeByManagementKey = Effect.gen(function* () {
  const { count } = yield* makeCounter
  const admitted = yield* makeAdmitted
  const access: Access<Caller> = ({ endpoint, exchange, headers }, handle) => {
    const { limit, scope } = factsOf(endpoint)
    const admit: Admit = (principal, counted) => {
      exchange.span?.set({ "svc.account_id": principal.accountId, "svc.key_id": principal.keyId })
      if (scope === undefined || allows(principal.scopes, scope)) {
        return counted ? Effect.void : count(exchange, principal, limit)
      }
      // The account's rate limit window is for keys with the scope, so that a leaked key without it cannot use the window up.
      const refused = Effect.fail(failure({ _tag: "InsufficientScope", scope }))
      return counted ? refused : Effect.andThen(count(exchange, principal), refused)
    }
    const keyRequest = { exchange, credential: bearerOf(headers), kind: "management", endpoint } as const
    return admitted(keyRequest, handle, admit)
  }
  return access
})

/** A shared cache may store answers to requests without an `Authorization` header, so answers to owners forbid it. */
const notStored = { "cache-control": "no-store" }

/** The access of keys, and of sessions for requests without a bearer. */
export const makeKeyOrSession = Effect.map(
  makeBySession,
  (bySession) =>
    (byKey: Access<Caller>): Access<Caller> =>
    (request, handle) => {
      const { endpoint, exchange, headers } = request
      const { authorization = "" } = headers
      if (authorization !== "" || !bySession.has(exchange, headers)) return byKey(request, handle)
      exchange.added = notStored
      const limit = endpoint.method === "GET" ? "console_reads" : "console_writes"
      return bySession.as({ endpoint, exchange, headers, limit }, (owner) =>
        Effect.provideService(handle, Caller, principalOf(owner))
      )
    }
)
