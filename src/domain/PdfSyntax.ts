/** The syntax of PDF files: the values in objects, and what a content stream shows. Texts are Latin-1, with one character per byte. */

/** A reference to the object of this number. It has no generation, because every definition of the number counts. */
export class PdfRef {
  readonly number: number

  constructor(number: number) {
    this.number = number
  }
}

/** A string. Only its length matters. */
export class PdfString {
  readonly bytes: number

  constructor(bytes: number) {
    this.bytes = bytes
  }
}

export type PdfDict = ReadonlyMap<string, PdfValue>

/** A value; a name is a string without its slash. */
export type PdfValue = null | boolean | number | string | PdfString | PdfRef | ReadonlyArray<PdfValue> | PdfDict

/** A value and where it ends. */
export interface ParsedPdfValue {
  readonly value: PdfValue
  readonly end: number
}

/** No writer nests values deeper than a few levels; readers have limits of about this size. */
const MAX_DEPTH = 64

/** A regular expression for white space and for comments, which count as white space. */
const GAP = String.raw`(?:[\0\t\n\f\r ]|%[^\r\n]*[\r\n])+`
const REFERENCE = new RegExp(String.raw`(\d{1,10})${GAP}\d{1,10}${GAP}R(?![^\0\t\n\f\r ()<>[\]{}/%])`, "y")
const NUMBER = /[+-]?(?:\d+\.?\d*|\.\d+)/y
const REGULAR = /[^\0\t\n\f\r ()<>[\]{}/%]*/y
const HEX = /[0-9A-Fa-f\0\t\n\f\r ]*/y

/** Members that say where pages and their text are. None may occur twice, since readers differ in which one they take. */
const SINGLE = new Set(["Pages", "Kids", "Contents", "Resources", "XObject", "Filter", "DecodeParms", "Type"])

const isWhite = (code: number): boolean =>
  code === 32 || code === 10 || code === 13 || code === 9 || code === 0 || code === 12

/** The end of a literal string that begins before `at`. */
const literalEnd = (text: string, at: number): number => {
  let depth = 1
  for (let index = at; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === 92) index += 1
    else if (code === 40) depth += 1
    else if (code === 41 && --depth === 0) return index + 1
  }
  return text.length
}

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const nameOf = (written: string): string =>
  written.includes("#")
    ? written.replaceAll(/#([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : written

class Parser {
  readonly text: string
  at: number

  constructor(text: string, at: number) {
    this.text = text
    this.at = at
  }

  /** The value at this offset; undefined when there is none. */
  value(depth: number): PdfValue | undefined {
    this.#skip()
    const { text } = this
    switch (text[this.at]) {
      case undefined:
        return undefined
      case "<":
        return text[this.at + 1] === "<" ? this.#dict(depth) : this.#hex()
      case "[":
        return this.#array(depth)
      case "/":
        return this.#name()
      case "(": {
        const begin = this.at + 1
        this.at = literalEnd(text, begin)
        return new PdfString(this.at - begin)
      }
      default:
        return this.#atom()
    }
  }

  #skip(): void {
    const { text } = this
    for (; this.at < text.length; this.at++) {
      const code = text.charCodeAt(this.at)
      if (code === 37) {
        while (this.at + 1 < text.length && text[this.at + 1] !== "\r" && text[this.at + 1] !== "\n") this.at += 1
      } else if (!isWhite(code)) return
    }
  }

  #name(): string {
    const [written = ""] = matchAt(REGULAR, this.text, this.at + 1) ?? []
    this.at += 1 + written.length
    return nameOf(written)
  }

  #hex(): PdfString {
    const [digits = ""] = matchAt(HEX, this.text, this.at + 1) ?? []
    this.at += 1 + digits.length
    if (this.text[this.at] === ">") this.at += 1
    return new PdfString(Math.ceil(digits.length / 2))
  }

  #atom(): PdfValue | undefined {
    const reference = matchAt(REFERENCE, this.text, this.at)
    if (reference !== null) {
      this.at += reference[0].length
      return new PdfRef(Number(reference[1]))
    }
    const number = matchAt(NUMBER, this.text, this.at)
    if (number !== null) {
      this.at += number[0].length
      return Number(number[0])
    }
    const [word = ""] = matchAt(REGULAR, this.text, this.at) ?? []
    if (word !== "true" && word !== "false" && word !== "null") return undefined
    this.at += word.length
    return word === "null" ? null : word === "true"
  }

  #array(depth: number): PdfValue | undefined {
    if (depth === 0) return undefined
    this.at += 1
    const values: Array<PdfValue> = []
    for (;;) {
      this.#skip()
      if (this.text[this.at] === "]") {
        this.at += 1
        return values
      }
      const value = this.value(depth - 1)
      if (value === undefined) return undefined
      values.push(value)
    }
  }

  #dict(depth: number): PdfValue | undefined {
    if (depth === 0) return undefined
    this.at += 2
    const members = new Map<string, PdfValue>()
    for (;;) {
      this.#skip()
      if (this.text.startsWith(">>", this.at)) {
        this.at += 2
        return members
      }
      if (this.text[this.at] !== "/") return undefined
      const name = this.#name()
      const value = this.value(depth - 1)
      if (value === undefined || (members.has(name) && SINGLE.has(name))) return undefined
      members.set(name, value)
    }
  }
}

/** The value at an offset of a text; undefined when there is none, or it is nested too deep. */
export const parsePdf = (text: string, at: number): ParsedPdfValue | undefined => {
  const parser = new Parser(text, at)
  const value = parser.value(MAX_DEPTH)
  return value === undefined ? undefined : { value, end: parser.at }
}

/** What a content stream shows by itself, and what it uses. */
export interface PdfContent {
  /** The bytes of its strings, with one or two more for each, since a reader may separate them. */
  readonly shown: number
  /** How often it uses each name among its resources. */
  readonly uses: ReadonlyMap<string, number>
  /** It has a string or an image without an end, so readers may see more in it than this code counts. */
  readonly broken: boolean
}

/** The class of a byte in a content stream: 0 in a word or a number, 1 for white space, 2 for the start of something else. */
const kinds = new Uint8Array(256)
for (const code of [0, 9, 10, 12, 13, 32]) kinds[code] = 1
for (const character of "()<>[]{}/%") kinds[character.charCodeAt(0)] = 2

/** For each byte, 1 if it is a digit of a hexadecimal string or white space within one. */
const hexes = new Uint8Array(256)
for (const character of "0123456789abcdefABCDEF\0\t\n\f\r ") hexes[character.charCodeAt(0)] = 1

/** Operators of two letters. */
const [DO, DP, BI, ID] = [0x44_6f, 0x44_50, 0x42_49, 0x49_44]

/** Reads a content stream byte by byte, and each word once: a stream may have millions of words. */
class ContentScanner {
  readonly #bytes: Uint8Array
  readonly #uses = new Map<string, number>()
  /** The offsets at which the names since the last operator begin and end. */
  readonly #names: Array<number> = []
  #at = 0
  #shown = 0
  #broken = false
  #image = false
  #comment = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  scan(): PdfContent {
    const bytes = this.#bytes
    while (this.#at < bytes.length) {
      const code = bytes[this.#at]!
      switch (code) {
        case 40:
          this.#literal()
          break
        case 60:
          if (bytes[this.#at + 1] === 60) this.#at += 2
          else this.#hex()
          break
        case 47: {
          const begin = this.#at + 1
          this.#names.push(begin, this.#regular(begin))
          break
        }
        default:
          if (kinds[code] === 0) this.#word()
          else {
            if (code === 37) this.#comment = true
            if (code === 10 || code === 13) this.#comment = false
            this.#at += 1
          }
      }
    }
    return { shown: this.#shown, uses: this.#uses, broken: this.#broken || this.#image }
  }

  /** Skips the bytes of a word. */
  #regular(begin: number): number {
    const bytes = this.#bytes
    let at = begin
    while (at < bytes.length && kinds[bytes[at]!] === 0) at += 1
    this.#at = at
    return at
  }

  #literal(): void {
    const bytes = this.#bytes
    const begin = this.#at
    let [at, depth] = [begin + 1, 1]
    for (; at < bytes.length && depth > 0; at++) {
      const code = bytes[at]!
      if (code === 92) at += 1
      else if (code === 40) depth += 1
      else if (code === 41) depth -= 1
    }
    this.#broken ||= depth > 0
    this.#shown += at - begin
    this.#at = at
  }

  #hex(): void {
    const bytes = this.#bytes
    const begin = this.#at + 1
    let at = begin
    while (at < bytes.length && hexes[bytes[at]!] === 1) at += 1
    this.#broken ||= bytes[at] !== 62 && !this.#comment
    this.#shown += Math.ceil((at - begin) / 2) + 1
    this.#at = at
  }

  #word(): void {
    const bytes = this.#bytes
    const begin = this.#at
    const length = this.#regular(begin) - begin
    const first = bytes[begin]!
    // A number belongs to the operator after it.
    if (first < 58) return
    // Compares numbers, since making a text of each word would take most of the time.
    const word = length === 2 ? (first << 8) | bytes[begin + 1]! : 0
    const marks = length === 3 && first === 66 && bytes[begin + 1] === 68 && bytes[begin + 2] === 67
    if (word === DO || word === DP || marks) this.#use()
    if (this.#comment) return
    this.#names.length = 0
    if (word === BI) this.#image = true
    else if (word === ID && this.#image) this.#skipImage()
  }

  #use(): void {
    for (let index = 0; index < this.#names.length; index += 2) {
      const written = Buffer.from(this.#bytes.subarray(this.#names[index], this.#names[index + 1])).toString("latin1")
      const name = nameOf(written)
      this.#uses.set(name, (this.#uses.get(name) ?? 0) + 1)
    }
  }

  /** Skips to the first offset where the image may end. */
  #skipImage(): void {
    const bytes = this.#bytes
    this.#image = false
    for (let at = this.#at; at + 1 < bytes.length; at++) {
      if (bytes[at] !== 69 || bytes[at + 1] !== 73) continue
      if (at + 2 < bytes.length && kinds[bytes[at + 2]!] === 0) continue
      this.#at = at + 2
      return
    }
    this.#broken = true
    this.#at = bytes.length
  }
}

/**
 * Reads a content stream. When readers may differ it counts too much rather than too little: strings within comments count, and an
 * inline image ends at the first possible offset.
 */
export const scanContent = (bytes: Uint8Array): PdfContent => new ContentScanner(bytes).scan()
