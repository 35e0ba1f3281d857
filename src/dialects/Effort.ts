import type { Reasoning } from "../domain/Conversation.ts"

type Effort = Reasoning["effort"]

/** The effort of a wire format that also has `max`. `max` maps to the highest word below it. */
export const effortOf = (word: Effort | "max" | null | undefined): Effort =>
  word === "max" ? "xhigh" : (word ?? undefined)
