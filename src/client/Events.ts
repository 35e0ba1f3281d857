/** Reads server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html. */
import { TollgateStreamError } from "./Errors.ts"
import type { ErrorObject } from "./Contract.ts"

/** Yields the `data` field of each event in a body. */
async function* dataOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ""
  let data: Array<string> = []
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r?\n/)
      rest = lines.pop() ?? ""
      for (const line of lines) {
        if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5))
        if (line !== "" || data.length === 0) continue
        yield data.join("\n")
        data = []
      }
    }
  } finally {
    // This also runs when the caller leaves the loop. The service then stops the provider and charges the delivered output.
    await reader.cancel().catch(() => undefined)
  }
}

/** The types of events that end a stream. */
const LAST = new Set(["message_stop", "response.completed", "response.incomplete", "response.failed"])

const errorIn = (event: unknown): Partial<ErrorObject> | undefined => {
  if (typeof event !== "object" || event === null) return undefined
  const { error, type } = event as { readonly error?: Partial<ErrorObject>; readonly type?: string }
  return type === "error" ? (error ?? event) : type === undefined ? error : undefined
}

/**
 * Yields the events of a stream in any dialect. Throws `TollgateStreamError` when the stream reports an error or ends before its last
 * event.
 */
export async function* eventsOf<Event>(body: ReadableStream<Uint8Array>): AsyncGenerator<Event, void, undefined> {
  let whole = false
  for await (const data of dataOf(body)) {
    if (data === "[DONE]") {
      whole = true
      continue
    }
    const event: { readonly type?: string } = JSON.parse(data)
    const error = errorIn(event)
    if (error !== undefined && error !== null)
      throw new TollgateStreamError(error.message ?? "the stream failed", error)
    whole ||= event.type !== undefined && LAST.has(event.type)
    yield event as Awaited<Event>
  }
  if (!whole) throw new TollgateStreamError("the stream ended before its last event")
}
