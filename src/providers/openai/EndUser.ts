import { hash } from "node:crypto"

/** OpenAI rejects a longer one. */
const MAX_LENGTH = 64

/** The id of the caller's end user in a form that the host accepts. A longer id is replaced by its hash. */
export const endUserOf = (user: string): string => (user.length <= MAX_LENGTH ? user : hash("sha256", user, "hex"))
