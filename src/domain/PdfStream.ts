/** Decodes the streams of PDF files. */
import { constants, inflateSync } from "node:zlib"
import type { PdfDict, PdfValue } from "./PdfSyntax.ts"

/** Decodes one filter; undefined for data that is not valid, or that decodes to more than `most` bytes. */
type Undo = (data: Buffer, most: number, parameters: PdfDict | undefined) => Buffer<ArrayBufferLike> | undefined

/** A stream that was cut off decodes as far as it goes, as in readers. */
const inflate: Undo = (data, most) => {
  try {
    return inflateSync(data, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: Math.max(1, most) })
  } catch {
    return undefined
  }
}

/** In a predicted stream, a byte before each row says how the row differs from the one above. */
const unpredict = (data: Buffer, parameters: PdfDict): Buffer | undefined => {
  const number = (name: string, otherwise: number) => {
    const value = parameters.get(name)
    return typeof value === "number" && value > 0 ? value : otherwise
  }
  const predictor = number("Predictor", 1)
  if (predictor === 1) return data
  // Tables use predictors of bytes; TIFF's predictor is for images.
  if (predictor < 10) return undefined
  const bits = number("Colors", 1) * number("BitsPerComponent", 8)
  const step = Math.max(1, Math.ceil(bits / 8))
  const row = Math.ceil((bits * number("Columns", 1)) / 8)
  if (!Number.isSafeInteger(row) || row > data.length) return data.length === 0 ? data : undefined
  const rows = Math.ceil(data.length / (row + 1))
  const out = Buffer.alloc(rows * row)
  for (let line = 0; line < rows; line++) {
    const filter = data[line * (row + 1)]!
    for (let index = 0; index < row; index++) {
      const at = line * row + index
      const left = index < step ? 0 : out[at - step]!
      const up = line === 0 ? 0 : out[at - row]!
      const corner = line === 0 || index < step ? 0 : out[at - row - step]!
      out[at] = (data[line * (row + 1) + 1 + index] ?? 0) + predicted(filter, left, up, corner)
    }
  }
  return out
}

const predicted = (filter: number, left: number, up: number, corner: number): number => {
  switch (filter) {
    case 1:
      return left
    case 2:
      return up
    case 3:
      return (left + up) >> 1
    case 4: {
      const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
      return a <= b && a <= c ? left : b <= c ? up : corner
    }
    default:
      return 0
  }
}

const hex: Undo = (data) => {
  const text = data.toString("latin1")
  const end = text.indexOf(">")
  const digits = (end === -1 ? text : text.slice(0, end)).replaceAll(/[^0-9A-Fa-f]+/g, "")
  return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, "hex")
}

const ascii85: Undo = (data) => {
  const out = Buffer.alloc(4 * data.length)
  let [length, count, group] = [0, 0, 0]
  for (const code of data) {
    if (code === 126) break
    if (code === 122 && count === 0) length += 4
    if (code < 33 || code > 117) continue
    group = group * 85 + code - 33
    count += 1
    if (count < 5) continue
    out.writeUInt32BE(group % 2 ** 32, length)
    ;[length, count, group] = [length + 4, 0, 0]
  }
  if (count > 1) {
    const rest = Buffer.alloc(4)
    rest.writeUInt32BE(((group + 1) * 85 ** (5 - count) - 1) % 2 ** 32)
    rest.copy(out, length, 0, count - 1)
    length += count - 1
  }
  return out.subarray(0, length)
}

const runLength: Undo = (data, most) => {
  const pieces: Array<Buffer> = []
  let length = 0
  for (let at = 0; at < data.length && data[at] !== 128 && length <= most;) {
    const head = data[at]!
    const piece = head < 128 ? data.subarray(at + 1, at + 2 + head) : Buffer.alloc(257 - head, data[at + 1] ?? 0)
    pieces.push(piece)
    length += piece.length
    at += head < 128 ? 2 + head : 2
  }
  return length > most ? undefined : Buffer.concat(pieces)
}

const CLEAR = 256
const END = 257

/** Codes become a bit longer one entry before the table is full, unless `EarlyChange` is 0. */
const lzw: Undo = (data, most, parameters) => {
  const early = parameters?.get("EarlyChange") === 0 ? 0 : 1
  const single: ReadonlyArray<Buffer> = Array.from({ length: 258 }, (_, code) => Buffer.from(code < 256 ? [code] : []))
  const pieces: Array<Buffer> = []
  let [table, width, length] = [single.slice(), 9, 0]
  let before: Buffer<ArrayBufferLike> | undefined
  let [bits, held] = [0, 0]
  for (const byte of data) {
    bits = ((bits << 8) | byte) & 0xff_ffff
    held += 8
    if (held < width) continue
    held -= width
    const code = (bits >> held) & ((1 << width) - 1)
    if (code === END) break
    if (code === CLEAR) {
      ;[table, width, before] = [single.slice(), 9, undefined]
      continue
    }
    const entry: Buffer | undefined =
      table[code] ?? (before !== undefined && code === table.length ? joined(before, before) : undefined)
    if (entry === undefined) return undefined
    pieces.push(entry)
    length += entry.length
    if (length > most) return undefined
    if (before !== undefined && table.length < 4_096) table.push(joined(before, entry))
    before = entry
    const full = table.length + early
    width = full >= 2_048 ? 12 : full >= 1_024 ? 11 : full >= 512 ? 10 : 9
  }
  return Buffer.concat(pieces)
}

const joined = (one: Buffer, next: Buffer): Buffer => Buffer.concat([one, next.subarray(0, 1)])

const undoPredictor =
  (undo: Undo): Undo =>
  (data, most, parameters) => {
    const plain = undo(data, most, parameters)
    return plain === undefined || parameters === undefined ? plain : unpredict(plain, parameters)
  }

/** By their long and short names. */
const filters: ReadonlyMap<string, Undo> = new Map([
  ["FlateDecode", undoPredictor(inflate)],
  ["Fl", undoPredictor(inflate)],
  ["LZWDecode", undoPredictor(lzw)],
  ["LZW", undoPredictor(lzw)],
  ["ASCIIHexDecode", hex],
  ["AHx", hex],
  ["ASCII85Decode", ascii85],
  ["A85", ascii85],
  ["RunLengthDecode", runLength],
  ["RL", runLength]
])

const listOf = (value: PdfValue | undefined): ReadonlyArray<PdfValue> =>
  value === undefined || value === null
    ? []
    : Array.isArray(value)
      ? (value as ReadonlyArray<PdfValue>)
      : [value as PdfValue]

/** No writer uses more than two. */
const MAX_FILTERS = 4

/**
 * The decoded data of a stream; undefined when one of its filters is unknown, is for images, or gives more than `most` bytes. `data`
 * may continue after the stream: a filter knows its own end.
 */
export const decodeStream = (
  data: Buffer,
  filter: PdfValue | undefined,
  parameters: PdfValue | undefined,
  most: number
): Buffer | undefined => {
  const names = listOf(filter)
  const parameterList = listOf(parameters)
  if (names.length > MAX_FILTERS) return undefined
  let plain: Buffer | undefined = data
  for (const [index, name] of names.entries()) {
    const undo = typeof name === "string" ? filters.get(name) : undefined
    const one = parameterList[index]
    plain = plain && undo?.(plain, most, one instanceof Map ? (one as PdfDict) : undefined)
  }
  return plain === undefined || plain.length > most ? undefined : plain
}
