import { Effect, Redacted } from "effect"
import type { Outbound } from "../../platform/outbound/Outbound.ts"
import { targetOf } from "../../platform/outbound/OutboundCall.ts"
import { httpEmbed, orFault } from "../wire/HttpEmbed.ts"
import { makeHttpWork, withoutChat } from "../wire/HttpWork.ts"
import { faultOfError, faultOfStatus } from "../openai/Failure.ts"
import type { Provider } from "../Provider.ts"
import { encodeEmbeddings } from "./EmbedEncode.ts"
import { decodeRerank, encodeRerank } from "./Rerank.ts"

export interface VoyageOptions {
  readonly id: string
  /** The URL in front of `/embeddings`, such as `https://api.voyageai.com/v1`. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string>
}

/** The maximum length of a result's index and score, in bytes. */
const RERANK_BYTES = 256

/** Voyage AI's embeddings and reranking, on the outbound pool. */
export const makeVoyage = ({ apiKey, baseUrl, id }: VoyageOptions): Effect.Effect<Provider, never, Outbound> =>
  Effect.gen(function* () {
    const base = baseUrl.replace(/\/+$/, "")
    const targets = { embeddings: targetOf(`${base}/embeddings`), rerank: targetOf(`${base}/rerank`) }
    const headers = { authorization: `Bearer ${Redacted.value(apiKey)}` }
    const work = yield* makeHttpWork({ id, apiKey, headers, faultOfStatus })
    return {
      id,
      stopsBillingOnAbort: true,
      ...withoutChat(id),
      embed: httpEmbed(work, targets.embeddings, encodeEmbeddings),
      rerank: (call, asked) =>
        Effect.suspend(() =>
          work.post(call, {
            target: targets.rerank,
            accept: "application/json",
            body: encodeRerank(call, asked),
            maxBodyBytes: (asked.documents.length + 64) * RERANK_BYTES
          })
        ).pipe(Effect.flatMap((body) => orFault(work, decodeRerank(body, asked, faultOfError))))
    }
  })
