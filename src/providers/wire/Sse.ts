/** One server-sent event. `event` is "" when the stream named none. */
export interface SseEvent {
  readonly event: string
  readonly data: string
}

const MAX_EVENT_CHARS = 4 * 1024 * 1024
const BOM = "\uFEFF"
const SPACE = 32

/**
 * An incremental parser of `text/event-stream` bytes in chunks of any size. Lines end in CR, LF or CRLF; a leading byte order mark and
 * comments are skipped; the `data` lines of one event are joined by a line feed. The format drops an event without a blank line after
 * it, but some hosts end their streams that way, so `end` delivers it. `id` and `retry` are ignored, because a provider's stream is
 * never resumed. Effect's parser takes text instead of bytes and cannot be told that a stream has ended, so it would lose such an event.
 */
export class SseParser {
  readonly #onEvent: (event: SseEvent) => void
  readonly #maxEventChars: number
  /** Created when first needed, which is never for most streams. */
  #decoder: TextDecoder | undefined
  /** The last byte was not ASCII, so a character may be split between chunks. */
  #midCharacter = false
  #atStart = true
  #afterCr = false
  #line = ""
  #event = ""
  #data: string | undefined

  constructor(
    onEvent: (event: SseEvent) => void,
    options?: {
      /** The maximum number of characters in one event; 4 Mi when absent. */
      readonly maxEventChars?: number
    }
  ) {
    this.#onEvent = onEvent
    this.#maxEventChars = options?.maxEventChars ?? MAX_EVENT_CHARS
  }

  /** Takes the next bytes and emits the events that they complete. Returns false when an event is longer than allowed. */
  push(bytes: Uint8Array): boolean {
    let text = this.#decode(bytes)
    if (text === "") return true
    if (this.#atStart) {
      this.#atStart = false
      if (text.startsWith(BOM)) text = text.slice(1)
    }
    if (this.#afterCr) {
      this.#afterCr = false
      if (text.startsWith("\n")) text = text.slice(1)
    }
    if (text.includes("\r")) this.#mixedLines(text)
    else this.#lines(text)
    return this.#line.length + (this.#data?.length ?? 0) <= this.#maxEventChars
  }

  /** Emits the event that the end of the body completes, when its last line or its blank line is missing. */
  end(): void {
    if (this.#line !== "") this.#endLine("")
    this.#dispatch()
  }

  #decode(bytes: Uint8Array): string {
    const last = bytes.at(-1)
    if (last === undefined) return ""
    // An ASCII byte ends any character before it, so between such bytes whole chunks can be decoded in the fast way.
    if (last < 0x80 && !this.#midCharacter) return utf8(bytes)
    this.#midCharacter = last >= 0x80
    this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: true })
    return this.#decoder.decode(bytes, { stream: true })
  }

  #lines(text: string): void {
    let from = 0
    for (let to = text.indexOf("\n", from); to !== -1; to = text.indexOf("\n", from)) {
      this.#endLine(text.slice(from, to))
      from = to + 1
    }
    if (from < text.length) this.#line += text.slice(from)
  }

  #mixedLines(text: string): void {
    this.#afterCr = text.endsWith("\r")
    const lines = text.split(/\r\n|\r|\n/)
    const rest = lines.pop() ?? ""
    for (const line of lines) this.#endLine(line)
    this.#line += rest
  }

  #endLine(end: string): void {
    const line = this.#line === "" ? end : this.#line + end
    this.#line = ""
    if (line === "") return this.#dispatch()
    const colon = line.indexOf(":")
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1)
    if (field === "data") this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
    else if (field === "event") this.#event = value
  }

  #dispatch(): void {
    const data = this.#data
    const event = this.#event
    this.#data = undefined
    this.#event = ""
    if (data !== undefined) this.#onEvent({ event, data })
  }
}

const utf8 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
