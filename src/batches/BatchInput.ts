/** Parses the input of a background batch: one request per line, in OpenAI's format. */
import { Effect } from "effect"
import { isUtf8 } from "node:buffer"
import { createHash } from "node:crypto"
import { exactInputs } from "../domain/ExactJson.ts"
import { shapeProblemOf } from "../domain/JsonShape.ts"
import type { BatchOperationUrl } from "../inference/BatchOperation.ts"

/** The maximum number of requests in an input. */
export const MAX_LINES = 50_000

/** The maximum number of faults reported for an input. */
const MAX_FAULTS = 100

const MAX_CUSTOM_ID = 256

/** A fault of an input. `line` counts from 1. */
export interface InputFault {
  readonly code: string
  readonly message: string
  readonly param: string | null
  readonly line: number | null
}

/** One request of an input. */
export interface InputLine {
  readonly customId: string
  readonly body: Readonly<Record<string, unknown>>
  /** A digest of its content. */
  readonly fingerprint: string
  /** A field that a line must not have. Only this line is rejected for it. */
  readonly unknown?: string
}

const urls: ReadonlyArray<string> = [
  "/chat/completions",
  "/messages",
  "/responses",
  "/embeddings"
] satisfies ReadonlyArray<BatchOperationUrl>

/** The operation of an endpoint's path, with or without `/v1`; undefined for any other path. */
export const operationUrlOf = (endpoint: string): BatchOperationUrl | undefined => {
  const url = endpoint.replace(/^\/v1(?=\/)/, "")
  return urls.includes(url) ? (url as BatchOperationUrl) : undefined
}

/** The non-empty lines of an input, as offsets into its bytes, so that a large input is not copied. */
export interface InputLines {
  /** One more than the maximum when there are too many. */
  readonly count: number
  /** The text of the line with this index, from 0, and its number in the file, from 1. */
  readonly lineAt: (index: number) => { readonly text: string; readonly line: number }
}

/** Bytes scanned before other work gets a turn of the event loop. */
const BYTES_AT_ONCE = 1_048_576

const NEWLINE = 0x0a

const BYTE_ORDER_MARK = Buffer.from("\ufeff")

/** Whitespace that JSON allows within a line. */
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d

/** Numbers stored per line: its start, its end and its number. */
const PLACE = 3

const makeScan = (bytes: Uint8Array) => {
  const places: Array<number> = []
  let line = 1
  const count = () => places.length / PLACE
  return {
    places,
    count,
    /** Continues from an offset to `until` or just beyond it, or until there are too many lines. Returns the new offset. */
    goOn: (from: number, until: number): number => {
      let at = from
      while (at < until && count() <= MAX_LINES) {
        if (bytes[at] === NEWLINE) line++
        else if (!isBlank(bytes[at])) {
          const next = bytes.indexOf(NEWLINE, at)
          const end = next < 0 ? bytes.length : next
          places.push(at, end, line)
          at = end
          continue
        }
        at++
      }
      return at
    }
  }
}

/** Finds the lines of an input, in steps, so that other work gets its turn. Undefined when the input is not UTF-8. */
export const linesOf = (bytes: Uint8Array): Effect.Effect<InputLines | undefined> =>
  Effect.gen(function* () {
    if (!isUtf8(bytes)) return undefined
    const { count, goOn, places } = makeScan(bytes)
    const begin = BYTE_ORDER_MARK.equals(bytes.subarray(0, BYTE_ORDER_MARK.length)) ? BYTE_ORDER_MARK.length : 0
    for (let at = begin; at < bytes.length && count() <= MAX_LINES;) {
      at = goOn(at, Math.min(at + BYTES_AT_ONCE, bytes.length))
      yield* Effect.yieldNow
    }
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    return {
      count: count(),
      lineAt: (index) => {
        const [start, end, line = 0] = places.slice(index * PLACE, (index + 1) * PLACE)
        return { text: buffer.toString("utf8", start, end), line }
      }
    }
  })

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Parses one line, or returns the code, the field and the message of its fault. */
export const readLine = (
  text: string,
  url: BatchOperationUrl
): InputLine | readonly [code: string, param: string | null, message: string] => {
  const problem = shapeProblemOf(text)
  if (problem !== undefined) return ["invalid_json_line", null, `This line ${problem.message}.`]
  let value: unknown
  try {
    value = exactInputs(text, JSON.parse(text))
  } catch {
    return ["invalid_json_line", null, "This line is not valid JSON."]
  }
  if (!isObject(value)) return ["invalid_json_line", null, "This line is not a JSON object."]
  const { body, custom_id: customId, method, url: asked } = value
  if (typeof customId !== "string" || customId === "" || customId.length > MAX_CUSTOM_ID) {
    return ["invalid_custom_id", "custom_id", `\`custom_id\` must be a string of 1 to ${MAX_CUSTOM_ID} characters.`]
  }
  if (method !== "POST") return ["invalid_method", "method", "`method` must be POST."]
  if (typeof asked !== "string" || operationUrlOf(asked) !== url) {
    return ["mismatched_url", "url", `\`url\` must be /v1${url}, the endpoint of the batch.`]
  }
  if (!isObject(body)) return ["invalid_body", "body", "`body` must be a JSON object."]
  const unknown = Object.keys(value).find((name) => !["custom_id", "method", "url", "body"].includes(name))
  const fingerprint = createHash("sha256").update(`${url}\n${text}`).digest("hex")
  return { customId, body, fingerprint, ...(unknown === undefined ? {} : { unknown }) }
}

const wholeFault = (code: string, message: string): InputFault => ({ code, message, param: null, line: null })

/** Characters checked before other work gets a turn of the event loop. */
const CHECKED_AT_ONCE = 262_144

/** Checks all lines of an input and returns at most the first 100 faults. It works in steps, like `linesOf`. */
export const faultsOf = (
  lines: InputLines | undefined,
  url: BatchOperationUrl
): Effect.Effect<ReadonlyArray<InputFault>> =>
  Effect.gen(function* () {
    if (lines === undefined) return [wholeFault("invalid_encoding", "The file is not UTF-8.")]
    if (lines.count === 0) return [wholeFault("empty_file", "The file has no requests.")]
    if (lines.count > MAX_LINES)
      return [
        wholeFault("too_many_requests", `The file must contain at most ${MAX_LINES.toLocaleString("en-US")} requests.`)
      ]
    const faults: Array<InputFault> = []
    const seen = new Set<string>()
    let checked = 0
    for (let index = 0; index < lines.count && faults.length < MAX_FAULTS; index++) {
      const { line, text } = lines.lineAt(index)
      const read = readLine(text, url)
      if (!("customId" in read)) {
        faults.push({ code: read[0], param: read[1], message: read[2], line })
      } else if (seen.has(read.customId)) {
        faults.push({
          code: "duplicate_custom_id",
          param: "custom_id",
          message: "Another line has the same `custom_id`.",
          line
        })
      } else seen.add(read.customId)
      checked += text.length
      if (checked < CHECKED_AT_ONCE) continue
      checked = 0
      yield* Effect.yieldNow
    }
    return faults
  })
