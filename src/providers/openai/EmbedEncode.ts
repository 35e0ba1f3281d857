import type { EmbedWork, WorkCall } from "../Work.ts"
import { endUserOf } from "./EndUser.ts"

/**
 * Embeddings as the JSON text of a `POST /embeddings`. This wire knows no kinds of input and cuts none: its models embed queries
 * and documents alike, and its hosts refuse what is too long.
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
