import { randomFillSync } from "node:crypto"

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
/** Any two of these characters, by ten bits. */
const PAIRS = Array.from({ length: 1_024 }, (_, bits) => CROCKFORD[bits >> 5]! + CROCKFORD[bits & 31]!)
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))
const pool = new Uint8Array(4096)
let used = pool.length

/** Random bytes from a pool that is filled by one system call for hundreds of ids. */
const randomBytes = (count: number): Uint8Array => {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += count
  return pool.subarray(used - count, used)
}

/** Milliseconds since 1970 as the ten digits that begin a ULID. */
const ulidTime = (timeMs: number): string => {
  let time = timeMs
  let head = ""
  for (let index = 0; index < 10; index++) {
    head = CROCKFORD[time % 32] + head
    time = Math.floor(time / 32)
  }
  return head
}

/** The beginning of request ids of the millisecond at which the last one was made: of a busy second there are several each. */
let latest = { timeMs: 0, head: "" }

/** A new request id: `req_` and a ULID of this millisecond and 80 random bits. */
export const newRequestId = (): string => {
  const bytes = randomBytes(16)
  const timeMs = Date.now()
  if (timeMs !== latest.timeMs) latest = { timeMs, head: `req_${ulidTime(timeMs)}` }
  return latest.head + eightOf(bytes, 0) + eightOf(bytes, 8)
}

const pairOf = (bytes: Uint8Array, at: number): string => PAIRS[((bytes[at]! & 31) << 5) | (bytes[at + 1]! & 31)]!

/** Eight characters by the last five bits of as many bytes: short enough that V8 makes one string of them, and no chain of nine. */
const eightOf = (bytes: Uint8Array, at: number): string =>
  pairOf(bytes, at) + pairOf(bytes, at + 2) + pairOf(bytes, at + 4) + pairOf(bytes, at + 6)

/** The least request id of this millisecond, which may lie in the past; ids of before are less. */
export const firstRequestIdAt = (timeMs: number): string => `req_${ulidTime(timeMs)}${"0".repeat(16)}`

/** When the request arrived that has an id, in milliseconds since 1970. */
export const timeOfRequestId = (id: string): number =>
  Array.from(id.slice(4, 14)).reduce((time, digit) => time * 32 + CROCKFORD.indexOf(digit), 0)

/** The second half of the last resource id, and the millisecond at which it was made. */
let last = { timeMs: 0, rest: 0 }

/**
 * A new resource id: 24 hexadecimal characters, 48 bits of this millisecond and 47 random bits. Those that a process makes within a
 * millisecond ascend, each by 32 random bits, so that what it writes down one after the other is listed so.
 */
export const newResourceId = (): string => {
  const timeMs = Date.now()
  const bytes = Buffer.from(randomBytes(6))
  const rest = timeMs === last.timeMs ? last.rest + 1 + bytes.readUInt32BE() : Math.floor(bytes.readUIntBE(0, 6) / 2)
  last = { timeMs, rest }
  return timeMs.toString(16).padStart(12, "0") + rest.toString(16).padStart(12, "0")
}

/** The least resource id of this millisecond, which may lie in the past; ids of before are less. */
export const firstResourceIdAt = (timeMs: number): string => timeMs.toString(16).padStart(12, "0") + "0".repeat(12)

/** When a resource's id was made, in milliseconds since 1970. */
export const timeOfResourceId = (id: string): number => Number.parseInt(id.slice(0, 12), 16)

/** What has the form of a resource's id. */
export const isResourceId = (text: string): boolean => /^[0-9a-f]{24}$/.test(text)

const hex = (count: number): string => {
  const bytes = randomBytes(count)
  let text = ""
  for (const byte of bytes) text += HEX[byte]!
  return text
}

/** A new file id: `file_`, 48 bits of this millisecond and 128 random bits, in hexadecimal. Whoever has it may read the file. */
export const newFileId = (): string => `file_${Date.now().toString(16).padStart(12, "0")}${hex(16)}`

/** What has the form of a file's id. It is safe as a name in any directory. */
export const isFileId = (text: string): boolean => /^file_[0-9a-f]{44}$/.test(text)

/** When a file's id was made, in milliseconds since 1970. */
export const timeOfFileId = (id: string): number => Number.parseInt(id.slice(5, 17), 16)

/** A new trace id of W3C Trace Context: 32 hexadecimal characters, all of them random, never all zero. */
export const newTraceId = (): string => {
  const id = hex(16)
  return id === "0".repeat(32) ? newTraceId() : id
}

/** A new span id of W3C Trace Context: 16 hexadecimal characters, never all zero. */
export const newSpanId = (): string => {
  const id = hex(8)
  return id === "0".repeat(16) ? newSpanId() : id
}
