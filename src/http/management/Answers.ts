/** What the handlers of the management API have in common: reads answer what was found, writes are mutations. */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Caller, Owner } from "../../../schemas/Access.ts"
import { DEFAULT_LIMIT } from "../../../schemas/Page.ts"
import type { Actor } from "../../account/Audit.ts"
import type { Mutation, Mutations } from "../../account/Mutations.ts"
import { allows } from "../../auth/Scopes.ts"
import { objectOf } from "../../dialects/Decode.ts"
import { type Failure, failure, invalid } from "../../domain/Failure.ts"
import type { Unavailable } from "../../platform/Sql.ts"
import { readJsonIfAny } from "../Body.ts"
import { Exchange } from "../Exchange.ts"
import { logged, respond, table } from "../Failures.ts"
import { claimOf } from "../Idempotency.ts"

/** A page that is asked for, with what it has unless told. */
export const pageOf = (query: { readonly limit?: number; readonly cursor?: string }) => ({
  limit: query.limit ?? DEFAULT_LIMIT,
  cursor: query.cursor
})

const ROUTING_SCOPE = "routing:write"

/** Members that say how requests are to be routed. */
const ROUTING_MEMBERS = ["routing", "data_policy"] as const

/**
 * The same of a change of a key: its requests go by the routing and under the data policy of its project, so that another project,
 * or none, is another routing. One that is made in a project has routed nothing yet.
 */
export const KEY_ROUTING_MEMBERS = [...ROUTING_MEMBERS, "project_id"] as const

/** Fails with `InsufficientScope` where a body has a member that says how requests are to be routed and its key may not change that. */
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

const ofStore = (error: Failure | Unavailable): Failure =>
  error._tag === "Unavailable" ? failure({ _tag: "StoreUnavailable" }, error) : error

/** Answers with the response, or with what it failed with. */
export const answered = <R>(work: Effect.Effect<HttpServerResponse.HttpServerResponse, Failure | Unavailable, R>) =>
  Effect.catch(work, (error) =>
    Effect.flatMap(Exchange, (exchange) => {
      const failed = ofStore(error)
      return Effect.as(logged(failed, exchange), respond(failed, exchange))
    })
  )

/** Answers a read with what was found, as it is shown. */
export const answer = <A, R>(work: Effect.Effect<A, Failure | Unavailable, R>, show: (found: A) => object) =>
  answered(Effect.map(work, (found) => HttpServerResponse.jsonUnsafe(show(found))))

/** The body of a request that may have none, which is as an empty object. Fails with `ValidationError` for what is no object. */
export const readOptional = (
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<Readonly<Record<string, unknown>>, Failure> =>
  Effect.flatMap(readJsonIfAny(request), (body = {}) => {
    const members = objectOf(body)
    return members === undefined ? invalid("body", "an object, or nothing") : Effect.succeed(members)
  })

/**
 * Does what takes nothing but its path. Whoever says more, such as how long a secret is to go on, would take it for heard: fails with
 * `ValidationError` that names it.
 */
export const withoutBody = <R>(
  request: HttpServerRequest.HttpServerRequest,
  work: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>
) =>
  answered(
    Effect.flatMap(readOptional(request), (body) => {
      const [unknown] = Object.keys(body)
      return unknown === undefined ? work : invalid(unknown, "is not known: nothing is taken here but the path")
    })
  )

/** A write that a request asks for. */
export interface Asked {
  readonly request: HttpServerRequest.HttpServerRequest
  /** The body as it came; undefined for a request without one. */
  readonly body?: unknown
  /** The deed in the past tense, as in the audit log. */
  readonly type: string
  /** What is made has its id before it is made: `newResourceId()`. */
  readonly resource: { readonly type: string; readonly id: string }
  /** The answer holds a secret, which is shown this once. */
  readonly secret?: true
  /** It changes nothing in the database but asks others, and makes no second thing when it comes twice. */
  readonly outside?: true
  /** It comes to something else when it comes twice, and so is done again, under whatever key it comes. */
  readonly repeatable?: true
  readonly afterwards?: Effect.Effect<void>
  /**
   * What the caller is told, made of the answer that is kept: for what is to be asked of others once the write is committed. A repeat
   * is told by it as well.
   */
  readonly telling?: (answer: object) => Effect.Effect<object, Failure | Unavailable>
}

/** Who asks: the account, and whom its audit log names. */
/** Why a key that is there cannot be revoked. */
export const alreadyRevoked = failure({ _tag: "Conflict", detail: "This key has been revoked." })

export interface Asker {
  readonly accountId: string
  readonly actor: Actor
}

/** The holder of the management key. */
export const asKey: Effect.Effect<Asker, never, Caller> = Effect.map(Caller, ({ accountId, keyId }) => ({
  accountId,
  actor: { type: "key", id: keyId }
}))

/** The owner, signed in to the console. */
export const asOwner: Effect.Effect<Asker, never, Owner> = Effect.map(Owner, ({ accountId }) => ({
  accountId,
  actor: { type: "owner", id: accountId }
}))

const pathOf = (url: string): string => url.split("?", 1)[0] ?? url

/** What a query says first, if it says anything. */
const queriedOf = (url: string): string | undefined => {
  const [first] = new URLSearchParams(url.slice(pathOf(url).length)).keys()
  return first === "" ? "query" : first
}

/** Carries out a write and answers with what `work` answers, which is what the caller is told. */
export const makeMutate =
  (mutations: Mutations["Service"]) =>
  <A extends object, R>(
    by: Effect.Effect<Asker, never, R>,
    { afterwards, body, outside, repeatable, request, resource, secret, telling = Effect.succeed, type }: Asked,
    work: (asker: Asker) => Mutation<A>["work"]
  ) =>
    answered(
      Effect.gen(function* () {
        const asker = yield* by
        const { requestId } = yield* Exchange
        // What is repeatable has been done in part by now, and that is to be written down.
        const unknown = repeatable === true ? undefined : queriedOf(request.url)
        if (unknown !== undefined) return yield* invalid(unknown, "is not known: a write takes no query")
        // Only what would make a second thing needs to be known again: the others come to the same when they come twice.
        const claims = request.method === "POST" && outside !== true && repeatable !== true
        const header = claims ? request.headers["idempotency-key"] : undefined
        const claim = yield* Effect.fromResult(claimOf(header, request.method, pathOf(request.url), body ?? null))
        const { answer, audited, replayed } = yield* mutations.run<A>({
          ...asker,
          ...{ requestId, type, resource, claim },
          keepAnswer: secret !== true,
          codeOf: ({ _tag }) => table[_tag].code,
          work: work(asker),
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
    )
