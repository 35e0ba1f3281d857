import type { PaidAnswer } from "../domain/Answer.ts"
import { balanceWarning } from "../domain/Balance.ts"
import type { Reason } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"

/** The largest answer that is stored for a replay, in bytes. */
export const MAX_KEPT_BYTES = 1_048_576

/** What a repeat under the same idempotency key is answered with: the answer, or the final refusal. */
export type StoredAnswer<A extends PaidAnswer> =
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
export const restore = <A extends PaidAnswer>(stored: unknown, settled: Nano): StoredAnswer<A> => {
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
