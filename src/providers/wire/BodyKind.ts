/**
 * Identifies a response body by its first bytes, because its headers are unreliable: hosts and proxies send wrong types, or compress
 * although the request did not ask for it.
 */
import { headerOf, type OutboundHeaders } from "../../platform/outbound/OutboundCall.ts"
import { type Codec, codecOf, SNIFF_BYTES } from "../../platform/outbound/OutboundEncoding.ts"

/** Server-sent events, a complete JSON answer, or a compressed body. */
export type BodyKind = "events" | "whole" | Codec

const isBlank = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)

/** The offset of the text after a byte order mark and whitespace. */
const beginOf = (bytes: Uint8Array): number => {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  while (at < bytes.length && isBlank(bytes[at] ?? 0)) at += 1
  return at
}

/** The first letters of the fields of an event, and the colon of a comment. */
const FIELDS: ReadonlySet<number> = new Set([..."deir:"].map((letter) => letter.charCodeAt(0)))

const [BRACE, BRACKET, DATA] = [0x7b, 0x5b, 0x64]

/** Whether a body surely starts with events. It looks only at the first byte, which decides for nearly all streams. */
export const areEvents = (start: Uint8Array, headers: OutboundHeaders): boolean =>
  start[0] === DATA && headers["content-encoding"] === undefined

/** Whether a complete body consists of events. */
export const holdsEvents = (body: Uint8Array): boolean => FIELDS.has(body[beginOf(body)] ?? 0)

/** The kind of a body that starts with these bytes; undefined while they are too few to tell. `isAll`: no more bytes follow. */
export const kindOf = (start: Uint8Array, headers: OutboundHeaders, isAll: boolean): BodyKind | undefined => {
  const encoded = headers["content-encoding"] !== undefined
  const first = start[beginOf(start)]
  const isText = first !== undefined && (first === BRACE || first === BRACKET || FIELDS.has(first))
  // The byte order mark and the codecs' magic numbers may be split between chunks.
  if (!isAll && start.length < SNIFF_BYTES && (encoded || !isText)) return undefined
  const codec = codecOf(headers, start, true)
  if (codec !== undefined) return codec
  if (first !== undefined && FIELDS.has(first)) return "events"
  const streams = headerOf(headers, "content-type")?.includes("event-stream") !== false
  // Some hosts send whitespace until a complete answer is ready.
  if (first === undefined) return streams && !isAll ? undefined : streams ? "events" : "whole"
  return first === BRACE || first === BRACKET || !streams ? "whole" : "events"
}
