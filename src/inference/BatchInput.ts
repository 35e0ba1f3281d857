/** The input of a batch that runs in the background: a request on each line, as OpenAI has it. */
import { createHash } from "node:crypto"
import type { SurfaceUrl } from "./Surface.ts"

/** The most requests of one input. */
export const MAX_LINES = 50_000

/** Faults of one input that are told. */
const MAX_FAULTS = 100

const MAX_CUSTOM_ID = 256

/** What is wrong with an input; `line` counts from 1. */
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
  /** Digest of what it asks for. */
  readonly fingerprint: string
  /** A member that no line has; the line is refused for it, and no other is. */
  readonly unknown?: string
}

const urls: ReadonlyArray<string> = [
  "/chat/completions",
  "/messages",
  "/responses",
  "/embeddings"
] satisfies ReadonlyArray<SurfaceUrl>

/** The operation behind the address of an endpoint, with or without its `/v1`; undefined for any other. */
export const surfaceUrlOf = (endpoint: string): SurfaceUrl | undefined => {
  const url = endpoint.replace(/^\/v1(?=\/)/, "")
  return urls.includes(url) ? (url as SurfaceUrl) : undefined
}

/** The lines of an input that are not empty, each with its number from 1. */
export const linesOf = (
  bytes: Uint8Array
): ReadonlyArray<{ readonly text: string; readonly line: number }> | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true })
      .decode(bytes)
      .split("\n")
      .map((text, at) => ({ text, line: at + 1 }))
      .filter(({ text }) => text.trim() !== "")
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Reads one line, or says what is wrong with it: its code, its member and a sentence. */
export const readLine = (
  text: string,
  url: SurfaceUrl
): InputLine | readonly [code: string, param: string | null, message: string] => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return ["invalid_json_line", null, "This line is not valid JSON"]
  }
  if (!isObject(value)) return ["invalid_json_line", null, "This line is no JSON object"]
  const { body, custom_id: customId, method, url: asked } = value
  if (typeof customId !== "string" || customId === "" || customId.length > MAX_CUSTOM_ID) {
    return ["invalid_custom_id", "custom_id", `A text of 1 to ${MAX_CUSTOM_ID} characters`]
  }
  if (method !== "POST") return ["invalid_method", "method", "POST is the one method"]
  if (typeof asked !== "string" || surfaceUrlOf(asked) !== url) {
    return ["mismatched_url", "url", "The endpoint of the batch is the one url"]
  }
  if (!isObject(body)) return ["invalid_body", "body", "Expected a JSON object"]
  const unknown = Object.keys(value).find((name) => !["custom_id", "method", "url", "body"].includes(name))
  const fingerprint = createHash("sha256").update(`${url}\n${text}`).digest("hex")
  return { customId, body, fingerprint, ...(unknown === undefined ? {} : { unknown }) }
}

/** What is wrong with an input, all lines of it, the first hundred faults at most. Goes on in steps, so that others get their turn. */
export const makeInputCheck = (lines: ReturnType<typeof linesOf>, url: SurfaceUrl) => {
  const faults: Array<InputFault> = []
  const seen = new Set<string>()
  if (lines === undefined)
    faults.push({ code: "invalid_encoding", message: "The file is not UTF-8", param: null, line: null })
  if (lines?.length === 0)
    faults.push({ code: "empty_file", message: "The file has no requests", param: null, line: null })
  if (lines !== undefined && lines.length > MAX_LINES) {
    faults.push({ code: "too_many_requests", message: `At most ${MAX_LINES} requests`, param: null, line: null })
  }
  const total = faults.length > 0 ? 0 : lines!.length
  return {
    faults,
    /** How many lines there are to check. */
    total,
    check: (at: number): void => {
      const { line, text } = lines![at]!
      if (faults.length >= MAX_FAULTS) return
      const read = readLine(text, url)
      if (!("customId" in read)) {
        faults.push({ code: read[0], param: read[1], message: read[2], line })
      } else if (seen.has(read.customId)) {
        faults.push({ code: "duplicate_custom_id", param: "custom_id", message: "Another line has the same", line })
      } else seen.add(read.customId)
    }
  }
}
