/** The client for programs that use Effect: every operation of the contract, decoded by its schemas, with typed errors and streams. */
import { Config, Context, Duration, Effect, Layer, Option, type Redacted } from "effect"
import { HttpClient, type HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../../schemas/Api.ts"
import { operations } from "./Operations.ts"
import { type ResponseHead, isRetryable, waitOf } from "./Retry.ts"
import { originOf } from "./Send.ts"

/** The options of the client. */
export interface EffectClientOptions {
  /** The address of the service, with or without `/api/v1`. */
  readonly baseUrl: string
  /** An inference key, or a management key for the groups of the management API. */
  readonly apiKey: Option.Option<Redacted.Redacted>
  /** The maximum number of retries. Default: 2. */
  readonly maxRetries?: number
}

/** The paths of operations that take an idempotency key. */
const keyedPaths: ReadonlyArray<RegExp> = Object.values(operations).flatMap((operation) => {
  const [, template = "", ...marks] = operation.split(" ")
  return !marks.includes("keyed") ? [] : [new RegExp(`${template.replaceAll(/\{\w+\}/g, "[^/?]+")}$`)]
})

const KEY = "idempotency-key"

const takesKey = ({ headers, method, url }: HttpClientRequest.HttpClientRequest): boolean =>
  method === "POST" && headers[KEY] === undefined && keyedPaths.some((path) => path.test(url))

/** Adds an idempotency key to a paid request without one. All attempts then have the same key. */
const withKey = (request: HttpClientRequest.HttpClientRequest): HttpClientRequest.HttpClientRequest =>
  takesKey(request) ? HttpClientRequest.setHeader(request, KEY, crypto.randomUUID()) : request

const headOf = ({ headers, status }: HttpClientResponse.HttpClientResponse): ResponseHead => ({
  status,
  header: (name) => headers[name]
})

type Attempt = Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

/** Retries a request while a retry may succeed (`Retry.ts`). Without an idempotency key, only reads are retried. */
const withRetries =
  (maxRetries: number) =>
  (attempt: Attempt, { headers, method }: HttpClientRequest.HttpClientRequest): Attempt => {
    const repeatable = method === "GET" || headers[KEY] !== undefined
    const from = (count: number): Attempt => {
      const again = (head: ResponseHead | undefined, last: Attempt): Attempt => {
        const wait = waitOf(head, count)
        return count >= maxRetries || wait === undefined
          ? last
          : Effect.delay(
              Effect.suspend(() => from(count + 1)),
              Duration.millis(wait)
            )
      }
      return Effect.matchEffect(attempt, {
        onFailure: (error) => (repeatable ? again(undefined, Effect.fail(error)) : Effect.fail(error)),
        onSuccess: (response) => {
          const head = headOf(response)
          const done = Effect.succeed(response)
          return isRetryable(head) ? again(head, done) : done
        }
      })
    }
    return from(0)
  }

/**
 * Creates the client: a function for each operation in its group, such as `client.chat.chatCompletions`. An operation that can stream
 * returns its response, or a `Stream` of events if the request asks for one. Failures are instances of the error classes in
 * `schemas/Errors.ts`, such as `InsufficientCreditsError`.
 */
export const makeEffectClient = ({ apiKey, baseUrl, maxRetries = 2 }: EffectClientOptions) =>
  HttpApiClient.make(Api, {
    baseUrl: originOf(baseUrl),
    transformClient: (client) =>
      client.pipe(
        HttpClient.mapRequest((request) =>
          Option.match(apiKey, {
            onNone: () => withKey(request),
            onSome: (key) => withKey(HttpClientRequest.bearerToken(request, key))
          })
        ),
        HttpClient.transform(withRetries(maxRetries))
      )
  })

/** The client as a service. `layer` reads `TOLLGATE_BASE_URL` and `TOLLGATE_API_KEY`, and requires an `HttpClient`. */
export class Tollgate extends Context.Service<Tollgate, Effect.Success<ReturnType<typeof makeEffectClient>>>()(
  "tollgate/client/Tollgate"
) {
  static readonly layer = Layer.effect(
    Tollgate,
    Effect.gen(function* () {
      const baseUrl = yield* Config.String("TOLLGATE_BASE_URL")
      const apiKey = yield* Config.option(Config.Redacted("TOLLGATE_API_KEY"))
      return yield* makeEffectClient({ baseUrl, apiKey })
    })
  )
}
