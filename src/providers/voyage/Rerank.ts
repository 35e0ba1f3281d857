import { Result } from "effect"
import { errorIn } from "../wire/EventFault.ts"
import { countIn, listOf, objectOf, parseJson } from "../wire/Json.ts"
import type { ProviderFault } from "../ProviderError.ts"
import type { Ranking, RerankWork } from "../../domain/Work.ts"
import type { WorkCall } from "../Provider.ts"

/** Encodes a reranking as the JSON of `POST /rerank`. The response omits the documents, because the client has them. */
export const encodeRerank = (
  { candidate }: Pick<WorkCall, "candidate">,
  { documents, query, topN, truncation }: RerankWork
): string =>
  JSON.stringify({
    model: candidate.offer.upstreamId,
    query,
    documents,
    top_k: topN,
    truncation,
    return_documents: false
  })

/** Decodes a successful response. `faultOfError` interprets an error object in place of an answer. */
export const decodeRerank = (
  body: Uint8Array,
  { documents, topN }: Pick<RerankWork, "documents" | "topN">,
  faultOfError: (error: unknown) => ProviderFault
): Result.Result<Ranking, ProviderFault> => {
  const malformed = (detail: string) => Result.fail({ _tag: "Malformed", detail } as const)
  const whole = objectOf(parseJson(body))
  if (whole === undefined) return malformed("the body is not a JSON object")
  const error = errorIn(whole)
  if (error !== undefined) return Result.fail(faultOfError(error))
  const seen = new Set<number>()
  const results: Array<Ranking["results"][number]> = []
  for (const one of listOf(whole["data"])) {
    const result = objectOf(one)
    const index = countIn(result, "index")
    const score = result?.["relevance_score"]
    const isNew = index !== undefined && index < documents.length && !seen.has(index)
    if (!isNew || typeof score !== "number" || !Number.isFinite(score)) {
      return malformed(`result ${results.length} is none of the documents`)
    }
    seen.add(index)
    results.push({ index, score })
  }
  if (results.length !== Math.min(topN ?? Infinity, documents.length)) return malformed("results are missing")
  results.sort((a, b) => b.score - a.score)
  return Result.succeed({ results, tokens: countIn(objectOf(whole["usage"]), "total_tokens") })
}
