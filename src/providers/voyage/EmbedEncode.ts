import { Result } from "effect"
import type { ProviderFault } from "../Provider.ts"
import type { EmbedWork, WorkCall } from "../Work.ts"

/** The most inputs of one call. */
const MAX_INPUTS = 1_000

/** What Voyage would refuse, said before it is asked; its sandbox double says the same. */
export const refusalOf = ({ inputs }: Pick<EmbedWork, "inputs">): ProviderFault | undefined => {
  const refused = (detail: string): ProviderFault => ({ _tag: "Refused", status: 400, detail, param: "input" })
  if (typeof inputs[0] !== "string") return refused("its models take texts, not tokens")
  return inputs.length > MAX_INPUTS ? refused(`at most ${MAX_INPUTS} inputs`) : undefined
}

/**
 * Embeddings as the JSON text of a `POST /embeddings`. Whether long inputs are cut is always said, since here they are unless told;
 * floats are what comes when no encoding is named.
 */
export const encodeEmbeddings = (
  { candidate }: Pick<WorkCall, "candidate">,
  work: EmbedWork
): Result.Result<string, ProviderFault> => {
  const refused = refusalOf(work)
  if (refused !== undefined) return Result.fail(refused)
  const { dimensions, format, inputs, inputType, truncation } = work
  return Result.succeed(
    JSON.stringify({
      model: candidate.offer.upstreamId,
      input: inputs,
      input_type: inputType,
      truncation,
      output_dimension: dimensions,
      encoding_format: format === "base64" ? format : undefined
    })
  )
}
