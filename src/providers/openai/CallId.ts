import { hash } from "node:crypto"
import type { Candidate } from "../../domain/Plan.ts"

/** OpenAI refuses a longer id; the hosts of other models give some. */
const MAX_LENGTH = 40

/** Mistral's models take no other ids than such as they give themselves. */
const MISTRALS = /^[A-Za-z0-9]{9}$/

/**
 * The id of a tool call that may have been another host's, as this wire takes it. Call and result change alike, since the same id
 * always becomes the same one.
 */
export const callIdFor = (id: string, { model }: Candidate): string => {
  if (model.vendor === "mistral") return MISTRALS.test(id) ? id : mistralsOf(id)
  return id.length <= MAX_LENGTH ? id : `call_${hash("sha256", id, "hex").slice(0, 32)}`
}

const mistralsOf = (id: string): string =>
  hash("sha256", id, "base64")
    .replaceAll(/[^A-Za-z0-9]/g, "")
    .slice(0, 9)
