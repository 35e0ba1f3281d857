import { Result } from "effect"
import { createHash } from "node:crypto"
import { canonicalJson } from "../../domain/CanonicalJson.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import type { Claim } from "../../ledger/Operation.ts"

const FIELD = "Idempotency-Key"
const MAX_LENGTH = 255

/**
 * The claim of a request on its idempotency key, or undefined without a key. The key is accepted bare or as a quoted string (IETF
 * draft). Its scope is one account, method and path. The fingerprint covers the path, the body, and the operation's `options` if they
 * differ from the default.
 */
export const claimOf = (
  header: string | undefined,
  method: string,
  path: string,
  body: unknown,
  options?: object
): Result.Result<Claim | undefined, Failure> => {
  if (header === undefined) return Result.succeed(undefined)
  const key = /^"(.*)"$/.exec(header.trim())?.[1] ?? header.trim()
  if (key.length < 1 || key.length > MAX_LENGTH) {
    const found = key.length.toLocaleString("en-US")
    return Result.fail(invalid(FIELD, `must have 1 to ${MAX_LENGTH} characters; got ${found}`))
  }
  const more = options === undefined ? "" : `\n${canonicalJson(options)}`
  const fingerprint = createHash("sha256")
    .update(`${method} ${path}\n${canonicalJson(body)}${more}`)
    .digest("hex")
  return Result.succeed({ idempotencyKey: key, claim: `${method} ${path} ${key}`, fingerprint })
}
