import { speechTypes } from "../../../schemas/inference/Speech.ts"
import { decimalUsd, type Nano } from "../../domain/Money.ts"
import type { AudioFormat } from "../../domain/Work.ts"

/** The content type of audio in a format. */
export const speechType = (format: AudioFormat): string => speechTypes[format]

/** Headers beside audio: the cost as a decimal number of US dollars, and a low-balance warning. */
export const speechHeaders = (answer: {
  readonly cost: Nano
  readonly balanceWarning: string | undefined
}): Readonly<Record<string, string>> => ({
  "x-cost-usd": decimalUsd(answer.cost),
  ...(answer.balanceWarning === undefined ? {} : { "x-balance-warning": answer.balanceWarning })
})
