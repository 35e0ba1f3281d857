/**
 * Decodes a list of embeddings in OpenAI's and Voyage's format. Such lists are long, so the bytes are passed on unchanged wherever
 * possible.
 */
import { Result } from "effect"
import { errorIn } from "./EventFault.ts"
import { JsonScan, NOWHERE } from "./JsonScan.ts"
import { countIn, type JsonObject, listOf, objectOf, parseJson } from "./Json.ts"
import type { ProviderFault } from "../ProviderError.ts"
import type { Embeddings } from "../Work.ts"
import type { EmbedWork } from "../../domain/Work.ts"

type Format = EmbedWork["format"]

/** The request that the list must match. */
type EmbedForm = Pick<EmbedWork, "inputs" | "format">

/** The widest vectors of any current model. */
const MAX_DIMENSIONS = 4_096

/**
 * The longest number in bytes: with an indent and on a line of its own, as some hosts print lists; and four bytes of a float in base64.
 */
const BYTES_PER_NUMBER = { float: 32, base64: 6 } as const

/** Bytes for the vector's other members. */
const BYTES_AROUND = 1_024

/** The maximum length of a valid vector with its other members, in bytes. */
export const mostVectorBytes = (format: Format): number => BYTES_AROUND + MAX_DIMENSIONS * BYTES_PER_NUMBER[format]

/** The maximum length of a valid answer, in bytes: about 270 MB for 2,048 vectors of 4,096 numbers. */
export const mostEmbedBytes = ({ dimensions, format, inputs }: EmbedWork): number =>
  (inputs.length + 64) * BYTES_AROUND +
  inputs.length * Math.min(dimensions ?? MAX_DIMENSIONS, MAX_DIMENSIONS) * BYTES_PER_NUMBER[format]

const malformed = (detail: string): Result.Result<never, ProviderFault> => Result.fail({ _tag: "Malformed", detail })

const areFloats = (value: unknown): value is ReadonlyArray<number> =>
  Array.isArray(value) && value.length > 0 && value.every((one) => Number.isFinite(one))

/** Whether a vector has the requested format and is not empty. */
export const isVector = (value: unknown, format: Format): boolean =>
  format === "base64" ? typeof value === "string" && value !== "" : areFloats(value)

/** The end of the list element at this index, if it has exactly the three expected members, in any order. */
export const elementEnd = (scan: JsonScan, start: number, index: number, format: Format): number => {
  const seen = new Set<string>()
  const end = scan.members(start, (name, at) => {
    if (seen.has(name)) return NOWHERE
    seen.add(name)
    if (name === '"embedding"') return format === "base64" ? scan.plainString(at) : scan.numbers(at)
    const valueEnd = scan.value(at)
    const is = (expected: string) => (scan.text(at, valueEnd) === expected ? valueEnd : NOWHERE)
    if (name === '"object"') return is('"embedding"')
    return name === '"index"' ? is(String(index)) : NOWHERE
  })
  return seen.size === 3 ? end : NOWHERE
}

/** The bytes of a list with exactly the expected elements in order, and the rest of the answer; undefined otherwise. */
const scanned = (body: Uint8Array, { format, inputs }: EmbedForm) => {
  const scan = new JsonScan(body)
  const names = new Set<string>()
  const others: Array<string> = []
  let data: Uint8Array | undefined
  let count = 0
  const list = (at: number) => {
    const end = scan.elements(at, (start, index) => {
      const elementAt = elementEnd(scan, start, index, format)
      count = index + 1
      if (index > 0 || elementAt === NOWHERE) return elementAt
      // Only one vector is parsed completely. A host that writes one correctly writes all others the same way.
      return isVector(objectOf(parseJson(body.subarray(start, elementAt)))?.["embedding"], format) ? elementAt : NOWHERE
    })
    if (end !== NOWHERE) data = body.subarray(at, end)
    return end
  }
  const end = scan.members(scan.start(0), (name, at) => {
    if (names.has(name)) return NOWHERE
    names.add(name)
    if (name === '"data"') return list(at)
    const valueEnd = scan.value(at)
    if (valueEnd !== NOWHERE) others.push(`${name}:${scan.text(at, valueEnd)}`)
    return valueEnd
  })
  if (end === NOWHERE || !scan.isEnd(end) || data === undefined || count !== inputs.length) return undefined
  return { data, rest: objectOf(parseJson(`{${others.join()}}`)) }
}

/** Encodes little-endian 32-bit floats, as OpenAI's clients read them. */
export const base64Of = (vector: ReadonlyArray<number>): string => {
  const bytes = Buffer.allocUnsafe(vector.length * 4)
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4)
  return bytes.toString("base64")
}

/** Decodes such a string to numbers. */
export const floatsOf = (base64: string): ReadonlyArray<number> => {
  const bytes = Buffer.from(base64, "base64")
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4))
}

/** A vector in the requested format, which not every host honours. */
const converted = (value: unknown, format: Format): unknown => {
  if (format === "base64") return areFloats(value) ? base64Of(value) : value
  return typeof value === "string" ? floatsOf(value) : value
}

/** Rewrites the list of an answer with elements in another order or with other members. */
const rewritten = (body: JsonObject, { format, inputs }: EmbedForm): Result.Result<Uint8Array, ProviderFault> => {
  const vectors = new Map<number, unknown>()
  for (const [place, one] of listOf(body["data"]).entries()) {
    const element = objectOf(one)
    const vector = converted(element?.["embedding"], format)
    if (!isVector(vector, format)) return malformed(`embedding ${place} is not a vector`)
    vectors.set(countIn(element, "index") ?? place, vector)
  }
  if (listOf(body["data"]).length !== inputs.length || !inputs.every((_, index) => vectors.has(index))) {
    return malformed("the embeddings are not those of the inputs")
  }
  const list = inputs.map((_, index) => ({ object: "embedding", index, embedding: vectors.get(index) }))
  return Result.succeed(Buffer.from(JSON.stringify(list)))
}

/** The prompt tokens that the members around the list report. */
export const tokensOf = (rest: JsonObject | undefined): number | undefined => {
  const usage = objectOf(rest?.["usage"])
  return countIn(usage, "prompt_tokens") ?? countIn(usage, "total_tokens")
}

/** Decodes a successful response. `faultOfError` interprets an error object in place of an answer. */
export const decodeEmbeddings = (
  body: Uint8Array,
  form: EmbedForm,
  faultOfError: (error: unknown) => ProviderFault
): Result.Result<Embeddings, ProviderFault> => {
  const fast = scanned(body, form)
  if (fast !== undefined) return Result.succeed({ data: fast.data, tokens: tokensOf(fast.rest) })
  const whole = objectOf(parseJson(body))
  if (whole === undefined) return malformed("the body is not a JSON object")
  const error = errorIn(whole)
  if (error !== undefined) return Result.fail(faultOfError(error))
  return Result.map(rewritten(whole, form), (data) => ({ data, tokens: tokensOf(whole) }))
}
