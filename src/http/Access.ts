import { Effect, Layer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { Caller, Envelope, InferenceAccess, OpenAccess, type Principal } from "../../schemas/Access.ts"
import { Auth } from "../auth/Auth.ts"
import { problemsOf } from "../dialects/Decode.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import { Config } from "../platform/Config.ts"
import { type PolicyName, subjectOf } from "../ratelimit/Limits.ts"
import { RateLimiter } from "../ratelimit/RateLimiter.ts"
import { Exchange } from "./Exchange.ts"
import { respond } from "./Failures.ts"

/** Operations whose hold checks the key again, so that a remembered key is good enough to get there. */
const PAID = new Set(["chatCompletions"])

const makeCounter = Effect.gen(function* () {
  const config = yield* Config
  const limiter = yield* RateLimiter
  /** Counts the request; fails when it is one too many. */
  return (policy: PolicyName, principal: Principal | undefined): Effect.Effect<void, Failure> =>
    Effect.gen(function* () {
      const exchange = yield* Exchange
      const subject = subjectOf(policy, principal, principal === undefined ? exchange.address() : "")
      const verdict = yield* limiter.consume(policy, subject, config.rateLimitScale * (principal?.limitScale ?? 1))
      exchange.verdict = verdict
      if (verdict.admitted) return
      const { limit, retryAfterSeconds = verdict.resetSeconds } = verdict
      return yield* failure({ _tag: "RateLimitExceeded", limit, retryAfterSeconds })
    })
})

/** A failure before the handler is an answer like any other. */
const answered = <E, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E | Failure, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
  Effect.catchIf(
    app,
    (error): error is Failure => (error as { readonly _tag?: string })._tag === "Failure",
    (error) => Effect.succeed(respond(error))
  ) as Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>

const inferenceAccess = Layer.effect(
  InferenceAccess,
  Effect.gen(function* () {
    const auth = yield* Auth
    const count = yield* makeCounter
    return InferenceAccess.of({
      bearer: (app, { endpoint }) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const principal = yield* auth
            .authenticate(request.headers["authorization"], {
              kind: "inference",
              mayCache: PAID.has(endpoint.identifier)
            })
            .pipe(Effect.tapError(() => count("default", undefined)))
          yield* count("default", principal)
          return yield* Effect.provideService(app, Caller, principal)
        }).pipe(answered)
    })
  })
)

const openAccess = Layer.effect(
  OpenAccess,
  Effect.gen(function* () {
    const count = yield* makeCounter
    return OpenAccess.of((app) => Effect.andThen(count("default", undefined), app).pipe(answered))
  })
)

const wholes: Readonly<Record<string, string>> = { Params: "path", Query: "query", Headers: "headers", Payload: "body" }

/** Path and query are decoded by the contract; what is wrong in them is answered like what is wrong in a body. */
const envelope = HttpApiMiddleware.layerSchemaErrorTransform(Envelope, (error) => {
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error.cause)
  const problems = problemsOf(error.cause.issue, wholes[error.kind] ?? "body")
  return Effect.succeed(respond(failure({ _tag: "ValidationError", problems })))
})

export const layer = Layer.mergeAll(inferenceAccess, openAccess, envelope)
