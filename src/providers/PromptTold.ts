import type { OutputEvent } from "../domain/Output.ts"
import type { PromptUsage, TokenUsage } from "../domain/Usage.ts"

/** What hosts that say their usage again and again, each time the sum so far, tell of the prompt by it. */
export class PromptTold {
  #last: PromptUsage | undefined

  /** The event to be given where the prompt was not told so before. */
  by({ cacheWrite, cached, input }: TokenUsage): ReadonlyArray<OutputEvent> {
    const last = this.#last
    if (last !== undefined && last.input === input && last.cached === cached && last.cacheWrite === cacheWrite)
      return NONE
    this.#last = { input, cached, cacheWrite }
    return [{ _tag: "PromptUsage", usage: this.#last }]
  }
}

const NONE: ReadonlyArray<OutputEvent> = []
