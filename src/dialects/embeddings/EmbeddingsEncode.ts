/** An embeddings answer as text around the list of vectors, which goes between as the bytes it came in. */
import type { EmbeddingsList } from "../../../schemas/inference/Embeddings.ts"
import { type Nano, usdFromNano } from "../../domain/Money.ts"

/** What an answer says beside its vectors. */
export interface EmbeddingsFacts {
  /** As the caller named it. */
  readonly model: string
  readonly tokens: number
  readonly cost: Nano
  readonly requestId: string
  readonly balanceWarning: string | undefined
}

/** The JSON before the list and the JSON after it. */
export const encodeEmbeddings = (facts: EmbeddingsFacts): { readonly before: string; readonly after: string } => {
  const { balanceWarning, cost, model, requestId, tokens } = facts
  const head: Pick<EmbeddingsList, "object" | "model"> = { object: "list", model }
  const tail: Omit<EmbeddingsList, "object" | "model" | "data"> = {
    usage: { prompt_tokens: tokens, total_tokens: tokens },
    cost_usd: usdFromNano(cost),
    request_id: requestId,
    ...(balanceWarning === undefined ? {} : { balance_warning: { warning: "low_balance", threshold: balanceWarning } })
  }
  return { before: `${JSON.stringify(head).slice(0, -1)},"data":`, after: `,${JSON.stringify(tail).slice(1)}` }
}
