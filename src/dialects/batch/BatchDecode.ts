/** Decodes the body of `POST /batch`. The dialects decode the bodies of its requests. */
import { Result } from "effect"
import { BatchEntry, type batchUrls, MAX_BATCH } from "../../../schemas/inference/Batch.ts"
import { failedAt, type Failure, invalid } from "../../domain/Failure.ts"
import { NOT_AN_OBJECT, REQUIRED, UNKNOWN } from "../../domain/SchemaProblems.ts"
import { decoder, objectOf } from "../Decode.ts"

/** One request of a batch. */
export interface DecodedEntry {
  readonly customId: string | null
  readonly url: (typeof batchUrls)[number]
  readonly body: Readonly<Record<string, unknown>>
  /** The path of its body within the batch's body. */
  readonly at: string
}

const decodeEntry = decoder(BatchEntry, { strict: true })

const entryOf = (value: unknown, at: string): Result.Result<DecodedEntry, Failure> =>
  Result.gen(function* () {
    const object = objectOf(value)
    if (object === undefined) return yield* Result.fail(invalid(at, NOT_AN_OBJECT))
    const decoded = decodeEntry(object)
    if (Result.isFailure(decoded)) return yield* Result.fail(failedAt(at, decoded.failure))
    const { body, custom_id, params, url } = decoded.success
    if (body !== undefined && params !== undefined) {
      return yield* Result.fail(invalid(`${at}.params`, "is an alias of `body`: send one of the two"))
    }
    const members = body ?? params
    if (members === undefined) return yield* Result.fail(invalid(`${at}.body`, REQUIRED))
    const member = body === undefined ? "params" : "body"
    return { customId: custom_id ?? null, url: url ?? "/chat/completions", body: members, at: `${at}.${member}` }
  })

/** Decodes the body of a batch except the bodies of its requests. Errors contain the path, such as `requests[2].url`. */
export const decodeBatch = (body: unknown): Result.Result<ReadonlyArray<DecodedEntry>, Failure> =>
  Result.gen(function* () {
    const object = objectOf(body)
    if (object === undefined) return yield* Result.fail(invalid("body", NOT_AN_OBJECT))
    const unknown = Object.keys(object).find((name) => name !== "requests")
    if (unknown !== undefined) return yield* Result.fail(invalid(unknown, UNKNOWN))
    const { requests } = object
    if (!Array.isArray(requests) || requests.length === 0 || requests.length > MAX_BATCH) {
      return yield* Result.fail(invalid("requests", `must be an array of 1 to ${MAX_BATCH} items`))
    }
    const entries: Array<DecodedEntry> = []
    const names = new Map<string, number>()
    for (const [index, value] of requests.entries()) {
      const at = `requests[${index}]`
      const entry = yield* entryOf(value, at)
      const { customId } = entry
      const first = customId === null ? undefined : names.get(customId)
      if (first !== undefined) {
        return yield* Result.fail(invalid(`${at}.custom_id`, `must be unique; requests[${first}] has the same`))
      }
      if (customId !== null) names.set(customId, index)
      entries.push(entry)
    }
    return entries
  })
