import { Result } from "effect"
import { createHash } from "node:crypto"
import { type Failure, invalid } from "../domain/Failure.ts"
import type { Claim } from "../ledger/Operation.ts"

const FIELD = "Idempotency-Key"
const MAX_LENGTH = 255

/** JSON with the members of every object in order, so that two texts of one value are one text. */
const canonical = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`
}

/**
 * The claim of a request on its idempotency key, or undefined without a key. The key is taken bare or as a quoted string of the
 * IETF draft; it counts within one account, method and path. The fingerprint is of path and body.
 */
export const claimOf = (
  header: string | undefined,
  method: string,
  path: string,
  body: unknown
): Result.Result<Claim | undefined, Failure> => {
  if (header === undefined) return Result.succeed(undefined)
  const key = /^"(.*)"$/.exec(header.trim())?.[1] ?? header.trim()
  if (key.length < 1 || key.length > MAX_LENGTH) return Result.fail(invalid(FIELD, `1 to ${MAX_LENGTH} characters`))
  const fingerprint = createHash("sha256")
    .update(`${method} ${path}\n${canonical(body)}`)
    .digest("hex")
  return Result.succeed({ idempotencyKey: key, claim: `${method} ${path} ${key}`, fingerprint })
}
