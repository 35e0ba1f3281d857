/** The endpoints below `/operator`, as the holder of an operator key calls them. */
import { Effect } from "effect"
import { type Managed } from "../../../support/Management.ts"
import { json, post, type Service, startService } from "../../../support/Service.ts"

/** Calls an operation below `/operator` with this key. */
export const operating =
  ({ api }: Pick<Service, "api">, key: string) =>
  (method: string, path: string, body?: object, headers: Record<string, string> = {}): Effect.Effect<Managed> =>
    Effect.gen(function* () {
      const response = yield* Effect.promise(() =>
        fetch(`${api}/operator${path}`, {
          method,
          headers: {
            authorization: `Bearer ${key}`,
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...headers
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
      )
      return { status: response.status, headers: response.headers, body: yield* json(response) }
    })

/** A service with an operator and an account. */
export const operatorScene = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const service = yield* startService(env)
    const customer = yield* service.account(10)
    const made = yield* service.operatorKeys.create({ name: "support", expiresAt: null })
    const chat = Effect.gen(function* () {
      const body = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }
      const response = yield* post(`${service.api}/chat/completions`, customer.inferenceKey, body)
      return { status: response.status, body: yield* json(response) }
    })
    return { service, ...customer, key: made, operate: operating(service, made.key), chat }
  })
