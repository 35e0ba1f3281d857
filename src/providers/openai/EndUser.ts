import { hash } from "node:crypto"

/** OpenAI refuses a longer one. */
const MAX_LENGTH = 64

/** Who the caller's end user is, as this wire takes it; a longer name is told apart by its hash. */
export const endUserOf = (user: string): string => (user.length <= MAX_LENGTH ? user : hash("sha256", user, "hex"))
