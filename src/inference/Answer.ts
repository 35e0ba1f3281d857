import type { RoutingSummary } from "../../schemas/Routing.ts"
import { type Reason, type Failure } from "../domain/Failure.ts"
import { formatUsd, type Nano, NANO_PER_USD } from "../domain/Money.ts"
import type { Output, OutputEvent } from "../domain/Output.ts"
import type { TokenUsage } from "../domain/Usage.ts"
import type { PresetUse } from "./Request.ts"

/** The facts that accompany every paid answer. */
export interface PaidAnswer {
  readonly requestId: string
  /** Unix seconds. */
  readonly created: number
  readonly resolvedModel: string
  readonly provider: string
  readonly cost: Nano
  /** The warning about a low balance, if it is low. */
  readonly balanceWarning: string | undefined
}

/** A paid chat answer, independent of any dialect. It contains everything needed to send it, and to send it again. */
export interface Answer extends PaidAnswer {
  /** As the client named it. */
  readonly model: string
  readonly preset?: PresetUse | undefined
  readonly output: Output
  readonly usage: TokenUsage
  readonly routing: RoutingSummary
}

export const LOW_BALANCE = 5n * NANO_PER_USD

/** The warning for a balance below $5.00; undefined for a higher one. */
export const balanceWarning = (posted: Nano): string | undefined =>
  posted < LOW_BALANCE ? `Your balance is ${formatUsd(posted)}, below ${formatUsd(LOW_BALANCE)}` : undefined

/** The largest answer that is stored for a replay, in bytes. */
export const MAX_KEPT_BYTES = 1_048_576

/** What a repeat under the same idempotency key is answered with: the answer, or the final refusal. */
export type Kept<A extends PaidAnswer> =
  | { readonly _tag: "Answer"; readonly answer: A }
  | { readonly _tag: "Refusal"; readonly reason: Reason }

/**
 * Serializes an answer for storage, or returns null when it is too large. The answer is stored as JSON text. The database's own JSON
 * type changes the order of members and rejects some characters, but a replay must be byte-identical. The cost and the resulting
 * balance are known only to the statement that stores the answer.
 */
export const keepAnswer = (answer: object): object | null => {
  const json = JSON.stringify(answer)
  return Buffer.byteLength(json, "utf8") <= MAX_KEPT_BYTES ? { _tag: "Answer", answer: json } : null
}

/** Serializes a final refusal for storage. */
export const keepRefusal = (reason: Reason): object => ({ _tag: "Refusal", reason })

/** Restores a stored answer of this kind. `settled` comes from its row. The ledger stored the balance after the settle as `posted`. */
export const restore = <A extends PaidAnswer>(stored: unknown, settled: Nano): Kept<A> => {
  const kept = stored as
    | { readonly _tag: "Answer"; readonly answer: string | A; readonly posted: string }
    | { readonly _tag: "Refusal"; readonly reason: Reason }
  if (kept._tag === "Refusal") return kept
  // Answers that the previous release stored are not text. They expire after a day.
  const answer = typeof kept.answer === "string" ? (JSON.parse(kept.answer) as A) : kept.answer
  return {
    _tag: "Answer",
    answer: { ...answer, cost: settled, balanceWarning: balanceWarning(BigInt(kept.posted)) }
  }
}

/** An item of a stream for the caller. `End` or `Error` comes once, last, after the settle. */
export type StreamItem =
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<OutputEvent> }
  | { readonly _tag: "KeepAlive" }
  | { readonly _tag: "End"; readonly answer: Answer }
  | { readonly _tag: "Error"; readonly failure: Failure }
