/** What a node knows of the costs of a provider today, in nano-USD, by its metrics. */
import { Effect } from "effect"
import type { Service } from "./Service.ts"

/** Returns the cost of all nodes at the last exchange, and the bound of the provider; NaN for a figure that is not shown. */
export const spendSeenBy = ({ ops }: Pick<Service, "ops">, provider: string) =>
  Effect.map(
    Effect.promise(() => fetch(`${ops}/metrics`).then((answer) => answer.text())),
    (text) => {
      const of = (name: string) =>
        Number(
          new RegExp(`^${name}\\{gen_ai_provider_name="${provider}"\\} (\\S+)$`, "m").exec(text)?.[1] ?? Number.NaN
        )
      return { spend: of("svc_provider_spend_nano_usd"), limit: of("svc_provider_spend_limit_nano_usd") }
    }
  )
