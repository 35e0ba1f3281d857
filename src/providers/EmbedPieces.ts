/** A long list of embeddings read as it comes, so that its beginning is given on while its end is still on its way. */
import { elementEnd, isVector, mostVectorBytes, tokensOf } from "./EmbedDecode.ts"
import { JsonScan, NOWHERE } from "./JsonScan.ts"
import { objectOf, parsed } from "./Json.ts"
import type { EmbedWork } from "./Work.ts"

const LIST = 0x5b
const LIST_END = 0x5d
const COMMA = 0x2c

const NONE: ReadonlyArray<Uint8Array> = []

/** The largest vector of today's models and two pieces as they come from a socket, so that a larger room is seldom needed. */
const ROOM_BYTES = 262_144

/** More than comes before any list. */
const MOST_BEFORE_BYTES = 65_536

/** What a list of so many vectors turned out to be. */
export interface ListEnd {
  readonly tokens: number | undefined
}

/**
 * Takes the bytes of one answer as they come and gives those of its list that are looked through and right. It knows only answers
 * in the order and with the members in which hosts write them; whoever meets another must read that whole.
 */
export class EmbedPieces {
  readonly #asked: Pick<EmbedWork, "inputs" | "format">
  /** Where what is looked through stands together; what is given on are the bytes that came. */
  #room = Buffer.allocUnsafeSlow(ROOM_BYTES)
  /** Of the room, what has come and is not yet given: from the list's first bracket, the end of a vector, or the list's end on. */
  #from = 0
  #to = 0
  /** The same as it came. */
  #come: Array<Uint8Array> = []
  /** Vectors that are given. */
  #count = 0
  #place: "before" | "list" | "behind" = "before"
  #wrong = false

  constructor(asked: Pick<EmbedWork, "inputs" | "format">) {
    this.#asked = asked
  }

  /** Whether what came is not such an answer; then nothing more is to be pushed. */
  get wrong(): boolean {
    return this.#wrong
  }

  /** Vectors that were looked through and are right. */
  get count(): number {
    return this.#count
  }

  /** What of the list can now be given on, from its first bracket on; its last one is never among it. */
  push(bytes: Uint8Array): ReadonlyArray<Uint8Array> {
    this.#keep(bytes)
    if (this.#place === "before") this.#begin()
    if (this.#place !== "list") return NONE
    const given = this.#vectors()
    this.#from += given
    return this.#shift(given)
  }

  /** No more will come: what stands around the list, or undefined where the answer is not whole. */
  end(): ListEnd | undefined {
    if (this.#wrong || this.#place !== "behind") return undefined
    // The first of it is the list's own end.
    const behind = this.#room.toString("utf8", this.#from, this.#to).trimStart().slice(1)
    const rest = objectOf(parsed(Buffer.from(`{"data":0${behind}`)))
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

  /** The first bytes of what has come. */
  #shift(length: number): ReadonlyArray<Uint8Array> {
    const given: Array<Uint8Array> = []
    for (let left = length; left > 0;) {
      const first = this.#come[0]!
      if (first.length <= left) this.#come.shift()
      else this.#come[0] = first.subarray(left)
      const piece = first.subarray(0, left)
      given.push(piece)
      left -= piece.length
    }
    return given
  }

  /** Looks for the list among the members of the answer. What is used comes behind it, or the answer is none of these. */
  #begin(): void {
    const bytes = this.#room.subarray(this.#from, this.#to)
    const scan = new JsonScan(bytes)
    let found = NOWHERE
    scan.members(scan.start(0), (name, at) => {
      if (name === '"data"') found = at
      return name === '"data"' || name === '"usage"' || name === '"error"' ? NOWHERE : scan.value(at)
    })
    if (found === NOWHERE || found === bytes.length) {
      this.#wrong = bytes.length > MOST_BEFORE_BYTES
      return
    }
    this.#wrong = bytes[found] !== LIST
    this.#from += found
    this.#shift(found)
    this.#place = "list"
  }

  /** Looks through the vectors that have come whole; answers how many bytes they are with what stands before them. */
  #vectors(): number {
    const bytes = this.#room.subarray(this.#from, this.#to)
    const scan = new JsonScan(bytes)
    let given = 0
    for (;;) {
      const start = this.#vectorStart(scan, bytes, given)
      if (start === NOWHERE) return given
      const end = elementEnd(scan, start, this.#count, this.#asked.format)
      // One is looked at whole; a host that writes it well writes all others so.
      const isFirst = end !== NOWHERE && this.#count === 0
      if (end === NOWHERE) this.#wrong = bytes.length - start > mostVectorBytes(this.#asked.format)
      else if (isFirst && !this.#isVector(bytes.subarray(start, end))) this.#wrong = true
      if (end === NOWHERE || this.#wrong) return given
      this.#count += 1
      given = end
    }
  }

  #isVector(bytes: Uint8Array): boolean {
    return isVector(objectOf(parsed(bytes))?.["embedding"], this.#asked.format)
  }

  /** Where behind `from` the next vector begins, as far as that has come. */
  #vectorStart(scan: JsonScan, bytes: Buffer, from: number): number {
    const at = scan.start(from)
    const byte = bytes[at]
    if (byte === undefined) return NOWHERE
    if (this.#count > 0 && byte === LIST_END) this.#place = "behind"
    const { length } = this.#asked.inputs
    const begins = byte === (this.#count === 0 ? LIST : COMMA) && this.#count < length
    this.#wrong = this.#place === "behind" ? this.#count !== length : !begins
    const start = scan.start(at + 1)
    return begins && start < bytes.length ? start : NOWHERE
  }
}
