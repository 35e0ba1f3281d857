import type { EmbedWork } from "../../domain/Work.ts"
import type { WorkCall } from "../Provider.ts"
import { endUserOf } from "./EndUser.ts"

/**
 * Encodes embeddings as the JSON of `POST /embeddings`. This wire format has no input types and no truncation: its models embed queries
 * and documents alike, and its hosts reject inputs that are too long.
 */
export const encodeEmbeddings = (
  { candidate }: Pick<WorkCall, "candidate">,
  { dimensions, format, inputs, user }: EmbedWork
): string =>
  JSON.stringify({
    model: candidate.offer.upstreamId,
    input: inputs,
    dimensions,
    encoding_format: format,
    user: user && endUserOf(user)
  })
