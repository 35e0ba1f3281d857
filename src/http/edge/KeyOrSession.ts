/** Admits keys as bearers, and owners by their sessions, to the operations that accept both. A bearer takes precedence. */
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { AccountAccess, Caller, ManagementAccess, type Principal, type Signed } from "../../../schemas/Access.ts"
import { allows, scopes } from "../../auth/Scopes.ts"
import { failure } from "../../domain/Failure.ts"
import {
  type Access,
  type Admit,
  answered,
  factsOf,
  makeAdmitted,
  makeByInferenceKey,
  makeCounter,
  named
} from "./Access.ts"
import { Exchange } from "./Exchange.ts"
import { makeBySession } from "./OwnerAccess.ts"

/** What an owner may do: everything that a management key with all scopes may do. */
const principalOf = ({ accountId, limitScale, sessionId }: Signed): Principal => ({
  ...{ keyId: sessionId, accountId, limitScale, scopes },
  projectId: null,
  kind: "session",
  budgets: [],
  budgetsEpoch: 0
})

const byManagementKey = Effect.gen(function* () {
  const { count } = yield* makeCounter
  const admitted = yield* makeAdmitted
  const access: Access = (app, { endpoint }) =>
    Effect.withFiber((fiber) => {
      const { headers } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const exchange = fiber.getRef(Exchange)
      named(exchange, endpoint)
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
      const asked = { exchange, authorization: headers["authorization"], kind: "management", endpoint } as const
      return answered(admitted(asked, app, admit), exchange)
    })
  return access
})

/** A shared cache may store answers to requests without an `Authorization` header, so answers to owners forbid it. */
const notStored = HttpServerResponse.setHeader("cache-control", "no-store")

/** The access of keys, and of sessions for requests without a bearer. The first security scheme's result is final. */
const makeEither = Effect.map(makeBySession, (bySession) => (byKey: Access) => {
  const access: Access = (app, options) =>
    Effect.withFiber((fiber) => {
      const { headers } = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
      const { authorization = "" } = headers
      const exchange = fiber.getRef(Exchange)
      if (authorization !== "" || !bySession.has(exchange, headers)) return byKey(app, options)
      const { endpoint } = options
      named(exchange, endpoint)
      const limit = endpoint.method === "GET" ? "console_reads" : "console_writes"
      const answer = bySession.as({ endpoint, exchange, headers, limit }, (owner) =>
        Effect.provideService(app, Caller, principalOf(owner))
      )
      return Effect.map(answer, notStored)
    })
  return { bearer: access, session: access, secureSession: access }
})

/** `AccountAccess` and `ManagementAccess`. */
export const layer = Layer.effectContext(
  Effect.gen(function* () {
    const either = yield* makeEither
    const byInferenceKey = yield* makeByInferenceKey
    return Context.make(AccountAccess, AccountAccess.of(either(byInferenceKey("standard")))).pipe(
      Context.add(ManagementAccess, ManagementAccess.of(either(yield* byManagementKey)))
    )
  })
)
