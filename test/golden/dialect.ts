/** What the tests know of a dialect: how it asks, and how its answers are read. */
import { assert } from "@effect/vitest"
import type { Question } from "./cases.ts"

/** JSON that a test looks into. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

/** What an answer says, in no dialect's words. */
export interface Said {
  readonly reasoning: string
  /** A refusal is a part of it: not every dialect tells it from other text. */
  readonly text: string
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly input: Json }>
  /** Who refuses may be said to have stopped, or to have been stopped. */
  readonly finish: "stop" | "length" | "tool_calls" | "content_filter"
  readonly usage: {
    readonly input: number
    readonly cached: number
    readonly cacheWrite: number
    readonly output: number
    readonly reasoning: number
  }
  readonly cost: number
  readonly routing: Json
}

/** One event of a stream as it went over the wire; `event` is undefined where it was not named. */
export interface WireEvent {
  readonly event: string | undefined
  readonly data: Json
}

export interface Dialect {
  readonly name: string
  readonly path: string
  readonly streams: boolean
  readonly headers: (key: string) => Readonly<Record<string, string>>
  /** The body of a request; undefined where the dialect has no words for the question. */
  readonly ask: (question: Question, model: string, stream: boolean) => object | undefined
  /** The whole answer that a stream tells, which must be in good order. */
  readonly fold: (events: ReadonlyArray<WireEvent>) => Json
  /** What a stream delivered before the error it ended with, and that error's code. */
  readonly broken: (events: ReadonlyArray<WireEvent>) => { readonly text: string; readonly code: string }
  readonly said: (answer: Json) => Said
  /** The answer without the spacing of its calls' arguments, which hosts choose anew for a stream. */
  readonly bare: (answer: Json) => Json
  /** The code of an error body. */
  readonly codeOf: (body: Json) => string
}

/** The events of a stream, whose every frame must be in the service's own plain form. */
export const eventsOf = (text: string): ReadonlyArray<WireEvent> => {
  assert.isTrue(text.endsWith("\n\n"), "the stream ends within a frame")
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((frame) => {
      const [, event, data] = /^(?:event: ([^\n]+)\n)?data: ([^\n]+)$/.exec(frame) ?? assert.fail(`a frame: ${frame}`)
      return { event, data: data === "[DONE]" ? data : JSON.parse(data ?? "") }
    })
}

/** The bytes of such events. */
export const bytesOf = (events: ReadonlyArray<WireEvent>): Uint8Array =>
  new TextEncoder().encode(
    events
      .map(({ data, event }) => {
        const text = data === "[DONE]" ? data : JSON.stringify(data)
        return `${event === undefined ? "" : `event: ${event}\n`}data: ${text}\n\n`
      })
      .join("")
  )

/**
 * Arguments of a call as a value, because hosts space the text differently, whole and streamed. Where the answer was cut within
 * them they are what a dialect of values makes of it.
 */
export const inputOf = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    return { arguments: text }
  }
}
