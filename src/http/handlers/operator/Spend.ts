import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { ProviderSpendLimit } from "../../../../schemas/operator/Spend.ts"
import { Catalogue } from "../../../catalogue/Catalogue.ts"
import { decoder } from "../../../dialects/Decode.ts"
import { nanoFromUsd, usdFromNano } from "../../../domain/Money.ts"
import { ALL, SpendLimits } from "../../../operator/SpendLimits.ts"
import { readJson } from "../../edge/Body.ts"
import { operations } from "../../edge/Operations.ts"
import { answer } from "../management/Answers.ts"
import { asActor } from "./Answers.ts"

const decodeLimit = decoder(ProviderSpendLimit, { strict: true })

/** `/operator/spend`. */
export const operatorSpendHandlers = Effect.gen(function* () {
  const [catalogue, limits] = [yield* Catalogue, yield* SpendLimits]
  return operations("operatorSpend", {
    listSpend: () =>
      answer(limits.lines, (lines) => ({
        object: "list",
        data: lines.map(({ limit_nano: limit, provider, reserved, settled }) => ({
          object: "provider_spend",
          provider: provider || ALL,
          limit_usd: usdFromNano(limit),
          settled_usd: usdFromNano(settled),
          reserved_usd: usdFromNano(reserved)
        })),
        providers: catalogue.current().providers.flatMap(({ id, serving }) => (serving === "none" ? [] : [id]))
      })),
    setSpendLimit: ({ params: { provider }, request }) =>
      Effect.gen(function* () {
        const { limit_usd: usd } = yield* Effect.fromResult(decodeLimit(yield* readJson(request)))
        const known = (id: string) => catalogue.current().provider(id) !== undefined
        const limit = usd === null ? null : (nanoFromUsd(usd) ?? 0n)
        yield* limits.set({ provider, limit, known }, yield* asActor)
        return HttpServerResponse.jsonUnsafe({ data: { object: "provider_spend", provider, limit_usd: usd } })
      })
  })
})
