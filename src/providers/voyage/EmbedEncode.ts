import { Result } from "effect"
import type { ProviderFault } from "../ProviderError.ts"
import type { EmbedWork } from "../../domain/Work.ts"
import type { WorkCall } from "../Provider.ts"

/** The maximum number of inputs per call. */
const MAX_INPUTS = 1_000

/** Inputs that Voyage would reject, checked before the call. Its sandbox double uses the same check. */
export const refusalOf = ({ inputs }: Pick<EmbedWork, "inputs">): ProviderFault | undefined => {
  const refused = (detail: string): ProviderFault => ({ _tag: "Refused", status: 400, detail, param: "input" })
  if (typeof inputs[0] !== "string") return refused("its models take texts, not tokens")
  return inputs.length > MAX_INPUTS ? refused(`at most ${MAX_INPUTS} inputs`) : undefined
}

/**
 * Encodes embeddings as the JSON of `POST /embeddings`. The truncation flag is always sent, because Voyage's default is to truncate.
 * Without an encoding, Voyage returns floats.
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
