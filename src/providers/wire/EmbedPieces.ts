/** Reads a long list of embeddings as it arrives, so that its beginning can be passed on before its end has arrived. */
import { elementEnd, isVector, mostVectorBytes, tokensOf } from "./EmbedDecode.ts"
import { JsonScan, NOWHERE } from "./JsonScan.ts"
import { objectOf, parseJson } from "./Json.ts"
import type { EmbedWork } from "../../domain/Work.ts"

const LIST = 0x5b
const LIST_END = 0x5d
const COMMA = 0x2c

const NONE: ReadonlyArray<Uint8Array> = []

/** The largest vector of current models plus two chunks from a socket, so that the buffer rarely has to grow. */
const ROOM_BYTES = 262_144

/** No host sends this many bytes before the list. */
const MAX_BEFORE_BYTES = 65_536

/** What the members around the list report. */
export interface ListEnd {
  readonly tokens: number | undefined
}

/**
 * Takes the bytes of one answer as they arrive and returns those list bytes that are validated. So a node holds only a part of a list in
 * memory, because a complete list may have 270 MB. It supports only the order and the members that hosts usually write. An answer of
 * another form must be read as a whole.
 */
export class EmbedPieces {
  readonly #work: Pick<EmbedWork, "inputs" | "format">
  /** A buffer in which unvalidated bytes are contiguous. The bytes that are returned are the original chunks. */
  #room = Buffer.allocUnsafeSlow(ROOM_BYTES)
  /**
   * The buffer's part that has arrived and is not yet returned. It starts at the list's first bracket, the end of a vector, or the
   * list's end.
   */
  #from = 0
  #to = 0
  /** The original chunks of the bytes in the buffer. */
  #come: Array<Uint8Array> = []
  /** How many vectors were returned. */
  #count = 0
  #place: "before" | "list" | "behind" = "before"
  #wrong = false

  constructor(work: Pick<EmbedWork, "inputs" | "format">) {
    this.#work = work
  }

  /** Whether the answer has another form. Nothing must be pushed after that. */
  get wrong(): boolean {
    return this.#wrong
  }

  /** How many vectors were validated. */
  get count(): number {
    return this.#count
  }

  /** The list bytes that can now be passed on, starting with the list's first bracket, never including its last one. */
  push(bytes: Uint8Array): ReadonlyArray<Uint8Array> {
    this.#keep(bytes)
    if (this.#place === "before") this.#begin()
    if (this.#place !== "list") return NONE
    const length = this.#vectors()
    this.#from += length
    return this.#shift(length)
  }

  /** Ends the answer: returns the members around the list, or undefined when the answer is incomplete. */
  end(): ListEnd | undefined {
    if (this.#wrong || this.#place !== "behind") return undefined
    // It starts with the end of the list.
    const behind = this.#room.toString("utf8", this.#from, this.#to).trimStart().slice(1)
    const rest = objectOf(parseJson(Buffer.from(`{"data":0${behind}`)))
    return rest === undefined ? undefined : { tokens: tokensOf(rest) }
  }

  #keep(bytes: Uint8Array): void {
    const kept = this.#to - this.#from
    if (this.#to + bytes.length > this.#room.length) {
      const room =
        kept + bytes.length > this.#room.length ? Buffer.allocUnsafeSlow(2 * (kept + bytes.length)) : this.#room
      this.#room.copy(room, 0, this.#from, this.#to)
      this.#room = room
      this.#from = 0
      this.#to = kept
    }
    this.#room.set(bytes, this.#to)
    this.#to += bytes.length
    this.#come.push(bytes)
  }

  /** Removes the first bytes from the buffer. */
  #shift(length: number): ReadonlyArray<Uint8Array> {
    const arrivedVectors: Array<Uint8Array> = []
    for (let left = length; left > 0;) {
      const first = this.#come[0]!
      if (first.length <= left) this.#come.shift()
      else this.#come[0] = first.subarray(left)
      const piece = first.subarray(0, left)
      arrivedVectors.push(piece)
      left -= piece.length
    }
    return arrivedVectors
  }

  /** Looks for the list among the members of the answer. The usage comes after it; otherwise the answer has another form. */
  #begin(): void {
    const bytes = this.#room.subarray(this.#from, this.#to)
    const scan = new JsonScan(bytes)
    let found = NOWHERE
    scan.members(scan.start(0), (name, at) => {
      if (name === '"data"') found = at
      return name === '"data"' || name === '"usage"' || name === '"error"' ? NOWHERE : scan.value(at)
    })
    if (found === NOWHERE || found === bytes.length) {
      this.#wrong = bytes.length > MAX_BEFORE_BYTES
      return
    }
    this.#wrong = bytes[found] !== LIST
    this.#from += found
    this.#shift(found)
    this.#place = "list"
  }

  /** Validates the vectors that have arrived completely. Returns their length in bytes, including what comes before them. */
  #vectors(): number {
    const bytes = this.#room.subarray(this.#from, this.#to)
    const scan = new JsonScan(bytes)
    let given = 0
    for (;;) {
      const start = this.#vectorStart(scan, bytes, given)
      if (start === NOWHERE) return given
      const end = elementEnd(scan, start, this.#count, this.#work.format)
      // Only one vector is parsed completely. A host that writes one correctly writes all others the same way.
      const isFirst = end !== NOWHERE && this.#count === 0
      if (end === NOWHERE) this.#wrong = bytes.length - start > mostVectorBytes(this.#work.format)
      else if (isFirst && !this.#isVector(bytes.subarray(start, end))) this.#wrong = true
      if (end === NOWHERE || this.#wrong) return given
      this.#count += 1
      given = end
    }
  }

  #isVector(bytes: Uint8Array): boolean {
    return isVector(objectOf(parseJson(bytes))?.["embedding"], this.#work.format)
  }

  /** The start of the next vector after `from`, if it has arrived. */
  #vectorStart(scan: JsonScan, bytes: Buffer, from: number): number {
    const at = scan.start(from)
    const byte = bytes[at]
    if (byte === undefined) return NOWHERE
    if (this.#count > 0 && byte === LIST_END) this.#place = "behind"
    const { length } = this.#work.inputs
    const begins = byte === (this.#count === 0 ? LIST : COMMA) && this.#count < length
    this.#wrong = this.#place === "behind" ? this.#count !== length : !begins
    const start = scan.start(at + 1)
    return begins && start < bytes.length ? start : NOWHERE
  }
}
