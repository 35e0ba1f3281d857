/** The management API, as the holder of a management key calls it. */
import { Effect } from "effect"
import { json, type Service } from "./Service.ts"

/** An answer of it, body and all. */
export interface Managed {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** Calls an operation below `/management`, or below a path there, with this key. */
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

/** Status, code and `param` of a refusal. */
export const refusal = ({ body, status }: Managed) => [status, body.error?.code, body.error?.param]
