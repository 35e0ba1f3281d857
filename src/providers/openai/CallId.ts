import { hash } from "node:crypto"
import type { Candidate } from "../../domain/Plan.ts"

/** OpenAI rejects a longer id. Hosts of other models produce some. */
const MAX_LENGTH = 40

/** Mistral's models accept only ids in their own format. */
const MISTRALS = /^[A-Za-z0-9]{9}$/

/**
 * The id of a tool call, which may come from another host, in a form that this host accepts. The same id always maps to the same one,
 * so call and result stay together.
 */
export const callIdFor = (id: string, { model }: Candidate): string => {
  if (model.vendor === "mistral") return MISTRALS.test(id) ? id : mistralsOf(id)
  return id.length <= MAX_LENGTH ? id : `call_${hash("sha256", id, "hex").slice(0, 32)}`
}

const mistralsOf = (id: string): string =>
  hash("sha256", id, "base64")
    .replaceAll(/[^A-Za-z0-9]/g, "")
    .slice(0, 9)
