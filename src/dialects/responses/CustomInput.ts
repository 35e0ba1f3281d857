/** Extracts a custom tool's input, which the model writes as the only member of a JSON object. */
import { objectOf } from "../Decode.ts"

const ESCAPES: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }

/** The input in a call's arguments. Arguments of any other form are the input themselves. */
export const customInputOf = (text: string): string => {
  try {
    const input = objectOf(JSON.parse(text))?.["input"]
    return typeof input === "string" ? input : text
  } catch {
    const reader = new CustomInputReader()
    const read = reader.push(text)
    return reader.inside ? read : text
  }
}

/** The arguments that represent an input. */
export const customArguments = (input: string): string => JSON.stringify({ input })

/** Reads the input from arguments that arrive in pieces. */
export class CustomInputReader {
  /** Text that cannot be processed yet: the head, half an escape or half a character. */
  #rest = ""
  #inside = false
  #ended = false

  /** Whether the start of the input has arrived. */
  get inside(): boolean {
    return this.#inside
  }

  /** The part of the input that this piece of the arguments completes. */
  push(piece: string): string {
    if (this.#ended) return ""
    this.#rest += piece
    if (!this.#inside) {
      const head = /^\s*\{\s*"input"\s*:\s*"/.exec(this.#rest)
      if (head === null) return ""
      this.#inside = true
      this.#rest = this.#rest.slice(head[0].length)
    }
    return this.#read()
  }

  #read(): string {
    const text = this.#rest
    let read = ""
    let at = 0
    while (at < text.length) {
      const next = this.#plainEnd(text, at)
      read += text.slice(at, next)
      at = next
      if (at === text.length) break
      if (text[at] === '"') {
        this.#ended = true
        break
      }
      const escaped = this.#escape(text, at)
      if (escaped === undefined) break
      read += escaped.text
      at += escaped.length
    }
    this.#rest = this.#ended ? "" : text.slice(at)
    return read
  }

  /** The position of the next quote or backslash. */
  #plainEnd(text: string, from: number): number {
    let at = from
    while (at < text.length && text[at] !== '"' && text[at] !== "\\") at++
    return at
  }

  /** The character of an escape. Undefined while it is incomplete, or while the other half of its surrogate pair may follow. */
  #escape(text: string, at: number): { readonly text: string; readonly length: number } | undefined {
    const kind = text[at + 1]
    if (kind === undefined) return undefined
    if (kind !== "u") return { text: ESCAPES[kind] ?? kind, length: 2 }
    const unit = /^[0-9a-fA-F]{4}/.exec(text.slice(at + 2, at + 6))?.[0]
    if (unit === undefined) return text.length < at + 6 ? undefined : { text: "\\u", length: 2 }
    const code = Number.parseInt(unit, 16)
    if (code < 0xd800 || code > 0xdbff) return { text: String.fromCharCode(code), length: 6 }
    const following = text.slice(at + 6, at + 12)
    if (following.length < 6 && "\\u".startsWith(following.slice(0, 2))) return undefined
    const low = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(following)?.[1]
    if (low === undefined) return { text: String.fromCharCode(code), length: 6 }
    return { text: String.fromCharCode(code, Number.parseInt(low, 16)), length: 12 }
  }
}
