import { Effect, Redacted } from "effect"
import type { Outbound } from "../../platform/Outbound.ts"
import type { PublicFetch } from "../../platform/PublicFetch.ts"
import { faultOf, type RefusedAnswer } from "../Failure.ts"
import { makeHttpWork } from "../HttpWork.ts"
import { faultOfStatus } from "../openai/Failure.ts"
import { makeOpenAi } from "../openai/OpenAi.ts"
import type { Provider, ProviderFault } from "../Provider.ts"
import { makeXaiFilm } from "./XaiFilm.ts"

export interface XaiOptions {
  readonly id: string
  /** Everything before `/chat/completions` and `/videos/generations`, such as `https://api.x.ai/v1`. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string>
}

/** xAI's chat, which is OpenAI's, and its videos, over the outbound pool. It does not say that hanging up ends the bill. */
export const makeXai = ({ apiKey, baseUrl, id }: XaiOptions): Effect.Effect<Provider, never, Outbound | PublicFetch> =>
  Effect.gen(function* () {
    const base = baseUrl.replace(/\/+$/, "")
    const { chat, chatStream } = yield* makeOpenAi({
      id,
      baseUrl: base,
      apiKey,
      flavour: "compatible",
      efforts: ["low", "medium", "high"],
      stopsBillingOnAbort: false,
      faultOfStatus: faultOfXai
    })
    const headers = { authorization: `Bearer ${Redacted.value(apiKey)}` }
    const work = yield* makeHttpWork({ id, apiKey, headers, faultOfStatus: faultOfXai })
    return { id, stopsBillingOnAbort: false, chat, chatStream, ...(yield* makeXaiFilm(work, base)) }
  })

/** A wrong key is a bad request to xAI, for which no caller is to blame. It begins so: further on a caller may be quoted. */
const faultOfXai = (answer: RefusedAnswer, nowMs: number): ProviderFault => {
  const fault = faultOfStatus(answer, nowMs)
  return fault._tag === "Refused" && /^incorrect api key/i.test(fault.detail) ? faultOf(401, "", undefined) : fault
}
