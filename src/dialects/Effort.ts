import type { Reasoning } from "../domain/Conversation.ts"

type Effort = Reasoning["effort"]

/** The effort of a wire that also knows `max`, for which the nearest word below it stands. */
export const effortOf = (word: Effort | "max" | null | undefined): Effort =>
  word === "max" ? "xhigh" : (word ?? undefined)
