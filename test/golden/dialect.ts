/** A dialect of the tests: how to write its requests and how to read its answers. */
import { assert } from "@effect/vitest"
import type { Question } from "./cases.ts"

/** JSON of unknown form. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

/** The content of an answer in a form that is independent of the dialects. */
export interface Said {
  readonly reasoning: string
  /** Includes a refusal, because some dialects send it as text. */
  readonly text: string
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly input: Json }>
  /** For a refusal, dialects differ: `stop` or `content_filter`. */
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

/** One event of a stream. `event` is undefined if it has no name. */
export interface WireEvent {
  readonly event: string | undefined
  readonly data: Json
}

export interface Dialect {
  readonly name: string
  readonly path: string
  readonly streams: boolean
  readonly headers: (key: string) => Readonly<Record<string, string>>
  /** Returns the body of a request, or undefined if the dialect cannot express the question. */
  readonly ask: (question: Question, model: string, stream: boolean) => object | undefined
  /** Assembles the answer from a stream, and checks the order of its events. */
  readonly fold: (events: ReadonlyArray<WireEvent>) => Json
  /** Returns the text before the error at the end of a stream, and the error's code. */
  readonly broken: (events: ReadonlyArray<WireEvent>) => { readonly text: string; readonly code: string }
  readonly said: (answer: Json) => Said
  /** Returns the answer without the spacing of its calls' arguments, which may differ in a stream. */
  readonly bare: (answer: Json) => Json
  /** Returns the code of an error body. */
  readonly codeOf: (body: Json) => string
}

/** Parses a stream, whose every event must have the gateway's own plain form. */
export const eventsOf = (text: string): ReadonlyArray<WireEvent> => {
  assert.isTrue(text.endsWith("\n\n"), "the stream must end with a complete event")
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((frame) => {
      const [, event, data] =
        /^(?:event: ([^\n]+)\n)?data: ([^\n]+)$/.exec(frame) ?? assert.fail(`must be an event: ${frame}`)
      return { event, data: data === "[DONE]" ? data : JSON.parse(data ?? "") }
    })
}

/** Returns the bytes of events. */
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
 * Returns the arguments of a call as a value, because hosts space the text differently when they stream. Cut-off arguments
 * become what a dialect with arguments as values sends.
 */
export const inputOf = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    return { arguments: text }
  }
}
