/** Calls of the management API. */
import { Effect } from "effect"

/** An answer with its body read. */
export interface Answered {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** Asks for what is below this address as this key. */
export const asking =
  (url: string, key: string) =>
  (method: string, path = "", body?: unknown, headers: Record<string, string> = {}): Effect.Effect<Answered> =>
    Effect.promise(async () => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
    })
