import type { ModelDetail } from "../../../client/Contract.ts"

/** A price from a day on. */
export interface PriceStep {
  readonly date: string
  readonly usd: number
}

/** The prices that the history records, oldest first: for a million output tokens, or for the unit of any other price. */
export const priceSteps = ({ history }: Pick<ModelDetail, "history">): ReadonlyArray<PriceStep> =>
  history.flatMap(({ date, meteredCompletionPerToken: token, perUnitUsd: unit }) =>
    token !== undefined ? [{ date, usd: token * 1e6 }] : unit !== undefined ? [{ date, usd: unit }] : []
  )
