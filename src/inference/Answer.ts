import type { RoutingSummary } from "../../schemas/Routing.ts"
import { formatUsd, type Nano, NANO_PER_USD } from "../domain/Money.ts"
import type { Reason } from "../domain/Failure.ts"
import type { Output } from "../domain/Output.ts"
import type { TokenUsage } from "../domain/Usage.ts"
import type { PresetUse } from "./Request.ts"

/** What is said of every paid answer. */
export interface PaidAnswer {
  readonly requestId: string
  /** Unix seconds. */
  readonly created: number
  readonly resolvedModel: string
  readonly provider: string
  readonly cost: Nano
  /** What to say of a low balance. */
  readonly balanceWarning: string | undefined
}

/** A paid answer of a chat, free of any dialect: all that is needed to say it, and to say it again. */
export interface Answer extends PaidAnswer {
  /** As the caller named it. */
  readonly model: string
  readonly preset?: PresetUse | undefined
  readonly output: Output
  readonly usage: TokenUsage
  readonly routing: RoutingSummary
}

export const LOW_BALANCE = 5n * NANO_PER_USD

/** The sentence for a balance below $5.00; undefined for any other. */
export const balanceWarning = (posted: Nano): string | undefined =>
  posted < LOW_BALANCE ? `Your balance is ${formatUsd(posted)}, below ${formatUsd(LOW_BALANCE)}` : undefined

/** An answer longer than this is not kept for a repeat. */
export const MAX_KEPT_BYTES = 1_048_576

/** What a repeat under the same idempotency key is answered with: the answer, or the final refusal. */
export type Kept<A extends PaidAnswer> =
  | { readonly _tag: "Answer"; readonly answer: A }
  | { readonly _tag: "Refusal"; readonly reason: Reason }

/**
 * The form in which an answer is kept, within a bound of its size: its JSON as a text, because the database's own JSON has an order of members and
 * characters that it does not take, and a repeat is to be the same to the byte. The answer's cost and the balance after it are
 * known only to the statement that writes it.
 */
export const keepAnswer = (answer: object): object | null => {
  const json = JSON.stringify(answer)
  return Buffer.byteLength(json, "utf8") <= MAX_KEPT_BYTES ? { _tag: "Answer", answer: json } : null
}

/** The form in which a final refusal is kept. */
export const keepRefusal = (reason: Reason): object => ({ _tag: "Refusal", reason })

/**
 * Reads what was kept of an answer of this kind; `settled` is its row's. The ledger added the balance that stood after the settle
 * as `posted`.
 */
export const restore = <A extends PaidAnswer>(stored: unknown, settled: Nano): Kept<A> => {
  const kept = stored as
    | { readonly _tag: "Answer"; readonly answer: string | A; readonly posted: string }
    | { readonly _tag: "Refusal"; readonly reason: Reason }
  if (kept._tag === "Refusal") return kept
  // One that a release before this one kept is no text; it stands for a day.
  const answer = typeof kept.answer === "string" ? (JSON.parse(kept.answer) as A) : kept.answer
  return {
    _tag: "Answer",
    answer: { ...answer, cost: settled, balanceWarning: balanceWarning(BigInt(kept.posted)) }
  }
}
