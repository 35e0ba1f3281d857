/** Encodes an embeddings answer as text around the list of vectors; its original bytes go in between. */
import type { EmbeddingsList } from "../../../schemas/inference/Embeddings.ts"
import { type Nano, usdFromNano } from "../../domain/Money.ts"

/** The part of the answer after its vectors. */
export interface EmbeddingsFacts {
  /** Prompt tokens that were charged. */
  readonly used: number
  readonly cost: Nano
  readonly requestId: string
  readonly balanceWarning: string | undefined
}

/** The JSON before the list. The model is the request's, as the client named it. */
export const beforeList = (model: string): string => {
  const head: Pick<EmbeddingsList, "object" | "model"> = { object: "list", model }
  return `${JSON.stringify(head).slice(0, -1)},"data":`
}

/** The JSON after the list. */
export const afterList = ({ balanceWarning, cost, requestId, used }: EmbeddingsFacts): string => {
  const tail: Omit<EmbeddingsList, "object" | "model" | "data"> = {
    usage: { prompt_tokens: used, total_tokens: used },
    cost_usd: usdFromNano(cost),
    request_id: requestId,
    ...(balanceWarning === undefined ? {} : { balance_warning: { warning: "low_balance", threshold: balanceWarning } })
  }
  return `,${JSON.stringify(tail).slice(1)}`
}
