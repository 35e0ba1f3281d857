/** Shared parts of the management API's handlers: reads return records, writes are mutations. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller, Owner } from "../../../../schemas/Access.ts"
import { DEFAULT_LIMIT } from "../../../../schemas/Page.ts"
import type { Actor } from "../../../account/Audit.ts"
import type { Mutation, Mutations } from "../../../account/Mutations.ts"
import { allows } from "../../../auth/Scopes.ts"
import { objectOf } from "../../../dialects/Decode.ts"
import { conflict, type Failure, failure, invalid } from "../../../domain/Failure.ts"
import type { Unavailable } from "../../../platform/database/Sql.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"
import { readJsonIfAny } from "../../edge/Body.ts"
import { Exchange } from "../../edge/Exchange.ts"
import { table } from "../../FailureRows.ts"
import { claimOf } from "../../edge/Idempotency.ts"

/** The requested page, with defaults. */
export const pageOf = (query: { readonly limit?: number; readonly cursor?: string }) => ({
  limit: query.limit ?? DEFAULT_LIMIT,
  cursor: query.cursor
})

const ROUTING_SCOPE = "routing:write"

/** Fields that control how requests are routed. */
const ROUTING_MEMBERS = ["routing", "data_policy"] as const

/**
 * Fields that control routing when a key is changed. The key's requests use the routing and the data policy of its project, so moving it
 * to another project, or to none, changes its routing. A key created in a project has routed nothing yet, so creating it does not count.
 */
export const KEY_ROUTING_MEMBERS = [...ROUTING_MEMBERS, "project_id"] as const

/** Fails with `InsufficientScope` when a body contains a routing field and the caller's key must not change routing. */
export const mayRoute = (
  body: unknown,
  members: ReadonlyArray<string> = ROUTING_MEMBERS
): Effect.Effect<void, Failure, Caller> =>
  Effect.flatMap(Caller, ({ scopes }) => {
    const wanted = objectOf(body) ?? {}
    return members.every((member) => wanted[member] === undefined) || allows(scopes, ROUTING_SCOPE)
      ? Effect.void
      : Effect.fail(failure({ _tag: "InsufficientScope", scope: ROUTING_SCOPE }))
  })

/** Returns a record in the form of the API. */
export const answer = <A, R>(work: Effect.Effect<A, Failure | Unavailable, R>, show: (found: A) => object) =>
  Effect.map(work, (found) => HttpServerResponse.jsonUnsafe(show(found)))

/** Reads an optional body; a missing one counts as an empty object. Fails with `ValidationError` for a body that is not an object. */
export const readOptional = (request: ApiRequest): Effect.Effect<Readonly<Record<string, unknown>>, Failure> =>
  Effect.flatMap(readJsonIfAny(request), (body = {}) => {
    const members = objectOf(body)
    return members === undefined ? invalid("body", "must be a JSON object, or absent") : Effect.succeed(members)
  })

/**
 * Runs an operation that takes nothing but its path. A client that sends more, such as how long a secret stays valid, would believe it
 * was accepted. So this fails with a `ValidationError` that names the field.
 */
export const withoutBody = <R>(
  request: ApiRequest,
  work: Effect.Effect<HttpServerResponse.HttpServerResponse, Failure | Unavailable, R>
) =>
  Effect.flatMap(readOptional(request), (body) => {
    const [unknown] = Object.keys(body)
    return unknown === undefined ? work : invalid(unknown, "is not a known field: this operation has no body")
  })

/** A write operation. */
export interface WriteRequest {
  readonly request: ApiRequest
  /** The body as received; undefined for a request without one. */
  readonly body?: unknown
  /** The action in the past tense, as in the audit log. */
  readonly type: string
  /** A new resource has its id before it is created: `newResourceId()`. */
  readonly resource: { readonly type: string; readonly id: string }
  /** Whether the response contains a secret, which is shown only once. */
  readonly secret?: true
  /** Whether the operation only calls other services, changes nothing in the database, and is safe to repeat. */
  readonly outside?: true
  /** Whether repeating the operation has a new effect, so that it runs again under every idempotency key. */
  readonly repeatable?: true
  readonly afterwards?: Effect.Effect<void>
  /** Builds the response from the stored result, for calls to other services after the commit. A replay uses it as well. */
  readonly telling?: (answer: object) => Effect.Effect<object, Failure | Unavailable>
}

/** The error for revoking a key that is already revoked. */
export const alreadyRevoked = conflict("This key has been revoked.")

/** The caller of a write: its account, and the actor that the audit log names. */
export interface WriteCaller {
  readonly accountId: string
  readonly actor: Actor
}

const ownerOf = (accountId: string): WriteCaller => ({ accountId, actor: { type: "owner", id: accountId } })

/** The holder of a key, or the owner behind a session. */
export const asCaller: Effect.Effect<WriteCaller, never, Caller> = Effect.map(Caller, ({ accountId, keyId, kind }) =>
  kind === "session" ? ownerOf(accountId) : { accountId, actor: { type: "key", id: keyId } }
)

/** The signed-in owner. */
export const asOwner: Effect.Effect<WriteCaller, never, Owner> = Effect.map(Owner, ({ accountId }) =>
  ownerOf(accountId)
)

const pathOf = (url: string): string => url.split("?", 1)[0] ?? url

/** The name of the first query parameter, if there is one. */
const queriedOf = (url: string): string | undefined => {
  const [first] = new URLSearchParams(url.slice(pathOf(url).length)).keys()
  return first === "" ? "query" : first
}

/** Carries out a write and returns the result of `work` to the client. */
export const makeMutate =
  (mutations: Mutations["Service"]) =>
  <A extends object, R>(
    by: Effect.Effect<WriteCaller, never, R>,
    { afterwards, body, outside, repeatable, request, resource, secret, telling = Effect.succeed, type }: WriteRequest,
    work: (caller: WriteCaller) => Mutation<A>["work"]
  ) =>
    Effect.gen(function* () {
      const caller = yield* by
      const { requestId } = yield* Exchange
      // A repeatable operation may already have taken effect in part, which must be recorded.
      const unknown = repeatable === true ? undefined : queriedOf(request.url)
      if (unknown !== undefined)
        return yield* invalid(unknown, "is not a known parameter: this operation has no query parameters")
      // Only an operation that would create a second resource needs the idempotency key. Repeating the others has no further effect.
      const claims = request.method === "POST" && outside !== true && repeatable !== true
      const header = claims ? request.headers["idempotency-key"] : undefined
      const claim = yield* Effect.fromResult(claimOf(header, request.method, pathOf(request.url), body ?? null))
      const { answer, audited, replayed } = yield* mutations.run<A>({
        ...caller,
        requestId,
        type,
        resource,
        claim,
        keepAnswer: secret !== true,
        codeOf: ({ _tag }) => table[_tag].code,
        work: work(caller),
        ...(outside === undefined ? {} : { outside }),
        ...(afterwards === undefined ? {} : { afterwards })
      })
      return HttpServerResponse.jsonUnsafe(yield* telling(answer), {
        headers: {
          ...(replayed ? { "idempotency-replayed": "true" } : {}),
          ...(audited ? {} : { "x-audit-status": "pending" })
        }
      })
    })
