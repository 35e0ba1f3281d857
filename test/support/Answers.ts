/** What is said in an answer, so that two can be told apart by nothing else. */
import { Effect } from "effect"
import type { Things } from "./Calls.ts"

/** An answer as text: without what no two have in common, and without the ids that were asked for. */
export const answerOf = (response: Response, asked: ReadonlyArray<string>): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => response.text()),
    (text) => {
      const ids = [...asked, response.headers.get("x-request-id") ?? ""].filter((id) => id !== "")
      const body = ids.reduce((left, id) => left.replaceAll(id, "…"), text)
      const headers = [...response.headers].filter(([name]) => !/^(date|.*ratelimit.*|.*request-id)$/.test(name))
      return JSON.stringify([response.status, headers, body])
    }
  )

/** An id of the same form, length and time, of something that nobody has. */
const absentLike = (id: string, hex: string): string => {
  if (/^(file_)?[0-9a-f]{24,}$/.test(id)) return id.slice(0, -12) + hex
  return id.startsWith("req_") ? `${id.slice(0, -6)}ZZZZZZ` : "z".repeat(id.length)
}

/** The same for each of these. `hex` gives 12 hexadecimal characters. */
export const absentThings = (things: Things, hex: () => string): Things =>
  Object.fromEntries(Object.entries(things).map(([name, id]) => [name, absentLike(id, hex())])) as unknown as Things
