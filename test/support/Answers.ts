/** Makes answers comparable: two that say the same become equal texts. */
import { Effect } from "effect"
import type { Things } from "./Calls.ts"

/** An answer as text, without its request id, its date and its rate limit headers, and without the requested ids. */
export const answerOf = (response: Response, requested: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => response.text()),
    (text) => {
      const ids = [...requested, response.headers.get("x-request-id") ?? ""].filter((id) => id !== "")
      const body = ids.reduce((left, id) => left.replaceAll(id, "…"), text)
      const headers = [...response.headers].filter(([name]) => !/^(date|.*ratelimit.*|.*request-id)$/.test(name))
      return JSON.stringify([response.status, headers, body])
    }
  )

/** An id of the same form, length and time that no account has. */
const absentLike = (id: string, hex: string): string => {
  if (/^(file_)?[0-9a-f]{24,}$/.test(id)) return id.slice(0, -12) + hex
  return id.startsWith("req_") ? `${id.slice(0, -6)}ZZZZZZ` : "z".repeat(id.length)
}

/** Ids like those of these things that no account has. `hex` returns 12 hexadecimal characters. */
export const absentThings = (things: Things, hex: () => string): Things =>
  Object.fromEntries(Object.entries(things).map(([name, id]) => [name, absentLike(id, hex())])) as unknown as Things
