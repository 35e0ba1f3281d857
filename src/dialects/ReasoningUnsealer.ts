/** Handles reasoning that a conversation sends back. */
import type { ReasoningPart } from "../domain/Conversation.ts"
import { type OpenReasoning, opensNothing } from "../domain/Reasoning.ts"

/** Opens sealed reasoning, and records the paths of seals that it cannot open. */
export class ReasoningUnsealer {
  readonly #open: OpenReasoning
  readonly #foreign: Array<string> = []

  constructor(open: OpenReasoning = opensNothing) {
    this.#open = open
  }

  /** The paths of seals that this service did not make for the account of the request. */
  get foreign(): ReadonlyArray<string> {
    return this.#foreign
  }

  /** The block of a seal. Undefined for a foreign seal; its path is recorded. */
  read(seal: string, at: string): ReasoningPart | undefined {
    const part = this.#open(seal)
    if (part === undefined) this.#foreign.push(at)
    return part
  }
}
