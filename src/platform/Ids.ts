import { randomFillSync } from "node:crypto"

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
/** All pairs of these characters, indexed by ten bits. */
const PAIRS = Array.from({ length: 1_024 }, (_, bits) => CROCKFORD[bits >> 5]! + CROCKFORD[bits & 31]!)
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))
const pool = new Uint8Array(4096)
let used = pool.length

/** Returns random bytes from a pool that one system call fills for hundreds of ids. */
const randomBytes = (count: number): Uint8Array => {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += count
  return pool.subarray(used - count, used)
}

/** Encodes milliseconds since 1970 as the ten digits that start a ULID. */
const ulidTime = (timeMs: number): string => {
  let time = timeMs
  let head = ""
  for (let index = 0; index < 10; index++) {
    head = CROCKFORD[time % 32] + head
    time = Math.floor(time / 32)
  }
  return head
}

/** The last millisecond for which a request id was made, and its encoded start. A busy second has several requests per millisecond. */
let latest = { timeMs: 0, head: "" }

/** Creates a request id: `req_` and a ULID of the current millisecond and 80 random bits. */
export const newRequestId = (): string => {
  const bytes = randomBytes(16)
  const timeMs = Date.now()
  if (timeMs !== latest.timeMs) latest = { timeMs, head: `req_${ulidTime(timeMs)}` }
  return latest.head + eightOf(bytes, 0) + eightOf(bytes, 8)
}

const pairOf = (bytes: Uint8Array, at: number): string => PAIRS[((bytes[at]! & 31) << 5) | (bytes[at + 1]! & 31)]!

/**
 * Encodes the last five bits of eight bytes as eight characters. Eight are few enough that V8 builds one flat string instead of a chain
 * of nine.
 */
const eightOf = (bytes: Uint8Array, at: number): string =>
  pairOf(bytes, at) + pairOf(bytes, at + 2) + pairOf(bytes, at + 4) + pairOf(bytes, at + 6)

/** The smallest request id of this millisecond, which may lie in the past. Earlier ids are smaller. */
export const firstRequestIdAt = (timeMs: number): string => `req_${ulidTime(timeMs)}${"0".repeat(16)}`

/** The arrival time of the request with this id, in milliseconds since 1970. */
export const timeOfRequestId = (id: string): number =>
  Array.from(id.slice(4, 14)).reduce((time, digit) => time * 32 + CROCKFORD.indexOf(digit), 0)

/** The second half of the latest resource id, and the millisecond at which it was made. */
let last = { timeMs: 0, rest: 0 }

/**
 * Creates a resource id: 24 hexadecimal characters from 48 bits of the current millisecond and 47 random bits. Ids that a process
 * creates within one millisecond ascend in random steps of up to 32 bits, so rows written one after the other are also listed in that
 * order.
 */
export const newResourceId = (): string => {
  const timeMs = Date.now()
  const bytes = Buffer.from(randomBytes(6))
  const rest = timeMs === last.timeMs ? last.rest + 1 + bytes.readUInt32BE() : Math.floor(bytes.readUIntBE(0, 6) / 2)
  last = { timeMs, rest }
  return timeMs.toString(16).padStart(12, "0") + rest.toString(16).padStart(12, "0")
}

/** The smallest resource id of this millisecond, which may lie in the past. Earlier ids are smaller. */
export const firstResourceIdAt = (timeMs: number): string => timeMs.toString(16).padStart(12, "0") + "0".repeat(12)

/** When a resource's id was created, in milliseconds since 1970. */
export const timeOfResourceId = (id: string): number => Number.parseInt(id.slice(0, 12), 16)

/** Whether a text has the form of a resource id. */
export const isResourceId = (text: string): boolean => /^[0-9a-f]{24}$/.test(text)

const hex = (count: number): string => {
  const bytes = randomBytes(count)
  let text = ""
  for (const byte of bytes) text += HEX[byte]!
  return text
}

/**
 * Creates a file id: `file_`, 48 bits of the current millisecond and 128 random bits, in hexadecimal. Any client that has the id may
 * read the file.
 */
export const newFileId = (): string => `file_${Date.now().toString(16).padStart(12, "0")}${hex(16)}`

/** Whether a text has the form of a file id. Such a text is safe as a file name in any directory. */
export const isFileId = (text: string): boolean => /^file_[0-9a-f]{44}$/.test(text)

/** When a file's id was created, in milliseconds since 1970. */
export const timeOfFileId = (id: string): number => Number.parseInt(id.slice(5, 17), 16)
