import type { RerankResult } from "../../../schemas/inference/Rerank.ts"
import { type Nano, usdFromNano } from "../../domain/Money.ts"
import type { Ranking } from "../../domain/Work.ts"
import type { DecodedRerank } from "./RerankDecode.ts"

/** The facts of an answer besides its results. */
export interface RerankFacts {
  readonly provider: string
  readonly results: Ranking["results"]
  readonly tokens: number
  readonly cost: Nano
  readonly requestId: string
  readonly balanceWarning: string | undefined
}

/** The response, with the documents taken from the request. */
export const encodeRerank = ({ model, returnDocuments, work }: DecodedRerank, facts: RerankFacts): RerankResult => {
  const { balanceWarning, cost, provider, requestId, results, tokens } = facts
  return {
    model,
    provider,
    results: results.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(returnDocuments ? { document: { text: work.documents[index] ?? "" } } : {})
    })),
    usage: { total_tokens: tokens },
    cost_usd: usdFromNano(cost),
    request_id: requestId,
    ...(balanceWarning === undefined ? {} : { balance_warning: { warning: "low_balance", threshold: balanceWarning } })
  }
}
