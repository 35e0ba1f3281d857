/** Decodes the body of `POST /batch`. The dialects decode the bodies of its requests. */
import { Result } from "effect"
import { BatchEntry, type batchUrls, MAX_BATCH } from "../../../schemas/inference/Batch.ts"
import { failedAt, type Failure, invalid } from "../../domain/Failure.ts"
import { MAX_PROBLEMS, NOT_AN_OBJECT, REQUIRED, UNKNOWN } from "../../domain/SchemaProblems.ts"
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

/** Puts a missing field before the other problems, which often follow from it. */
const missingFirst = <A>(field: string, result: Result.Result<A, Failure>): Result.Result<A, Failure> =>
  Result.mapError(result, (failed) => {
    if (failed.reason._tag !== "ValidationError") return failed
    return invalid(field, REQUIRED, ...failed.reason.problems.slice(0, MAX_PROBLEMS - 1))
  })

const entryOf = (value: unknown, at: string): Result.Result<DecodedEntry, Failure> =>
  Result.gen(function* () {
    const object = objectOf(value)
    if (object === undefined) return yield* Result.fail(invalid(at, NOT_AN_OBJECT))
    const bodiless = object["body"] === undefined && object["params"] === undefined
    const decoded = bodiless ? missingFirst("body", decodeEntry(object)) : decodeEntry(object)
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
    const { requests } = object
    if (unknown !== undefined) {
      const found = Result.fail(invalid(unknown, UNKNOWN))
      return yield* requests === undefined ? missingFirst("requests", found) : found
    }
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
