import type { ModelDetail } from "../../../client/Contract.ts"

/** A price that applies from a day on. */
export interface PriceStep {
  readonly date: string
  readonly usd: number
}

/** The recorded prices of a model, oldest first, per million output tokens or per other unit. */
export const priceSteps = ({ history }: Pick<ModelDetail, "history">): ReadonlyArray<PriceStep> =>
  history.flatMap(({ date, meteredCompletionPerToken: token, perUnitUsd: unit }) =>
    token !== undefined ? [{ date, usd: token * 1e6 }] : unit !== undefined ? [{ date, usd: unit }] : []
  )
