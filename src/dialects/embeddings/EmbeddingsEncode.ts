/** An embeddings answer as text around the list of vectors, which goes between as the bytes it came in. */
import type { EmbeddingsList } from "../../../schemas/inference/Embeddings.ts"
import { type Nano, usdFromNano } from "../../domain/Money.ts"

/** What an answer says behind its vectors. */
export interface EmbeddingsFacts {
  /** Prompt tokens that were charged for. */
  readonly used: number
  readonly cost: Nano
  readonly requestId: string
  readonly balanceWarning: string | undefined
}

/** The JSON before the list. The model is that of the request, as the caller named it. */
export const beforeList = (model: string): string => {
  const head: Pick<EmbeddingsList, "object" | "model"> = { object: "list", model }
  return `${JSON.stringify(head).slice(0, -1)},"data":`
}

/** The JSON behind it. */
export const afterList = ({ balanceWarning, cost, requestId, used }: EmbeddingsFacts): string => {
  const tail: Omit<EmbeddingsList, "object" | "model" | "data"> = {
    usage: { prompt_tokens: used, total_tokens: used },
    cost_usd: usdFromNano(cost),
    request_id: requestId,
    ...(balanceWarning === undefined ? {} : { balance_warning: { warning: "low_balance", threshold: balanceWarning } })
  }
  return `,${JSON.stringify(tail).slice(1)}`
}
