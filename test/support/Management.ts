/** Calls of the management API with a management key. */
import { Effect } from "effect"
import { json, type Service } from "./Service.ts"

/** A response of the management API. */
export interface Managed {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** A function that calls operations below `/management`, or below a path there, with this key. */
export const managing =
  ({ api }: Pick<Service, "api">, key: string, below = "") =>
  (method: string, path = "", body?: unknown, headers: Record<string, string> = {}): Effect.Effect<Managed> =>
    Effect.gen(function* () {
      const response = yield* Effect.promise(() =>
        fetch(`${api}/management${below}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${key}`,
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...headers
          },
          ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
        })
      )
      return { status: response.status, headers: response.headers, body: yield* json(response) }
    })

/** The status, the code and the `param` of an error response. */
export const refusal = ({ body, status }: Managed) => [status, body.error?.code, body.error?.param]
