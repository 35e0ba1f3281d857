/** Reasoning that a conversation brings back. */
import type { ReasoningPart } from "../domain/Conversation.ts"
import { type OpenReasoning, opensNothing } from "../domain/Reasoning.ts"

/** Opens sealed reasoning, and notes where something else stood in its place. */
export class SaidReasoning {
  readonly #open: OpenReasoning
  readonly #foreign: Array<string> = []

  constructor(open: OpenReasoning = opensNothing) {
    this.#open = open
  }

  /** Where what this service did not seal stands, for the account of the request. */
  get foreign(): ReadonlyArray<string> {
    return this.#foreign
  }

  /** The block of a seal; undefined for one of others, whose place is noted. */
  read(seal: string, at: string): ReasoningPart | undefined {
    const part = this.#open(seal)
    if (part === undefined) this.#foreign.push(at)
    return part
  }
}
