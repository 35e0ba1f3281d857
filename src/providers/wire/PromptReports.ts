import type { OutputEvent } from "../../domain/Output.ts"
import type { PromptUsage, TokenUsage } from "../../domain/Usage.ts"

/** Emits prompt usage for hosts that report usage repeatedly, each time as the sum so far. */
export class PromptReports {
  #last: PromptUsage | undefined

  /** The event to emit, if the prompt usage differs from the last one. */
  by({ cacheWrite, cached, input }: TokenUsage): ReadonlyArray<OutputEvent> {
    const last = this.#last
    if (last !== undefined && last.input === input && last.cached === cached && last.cacheWrite === cacheWrite)
      return NONE
    this.#last = { input, cached, cacheWrite }
    return [{ _tag: "PromptUsage", usage: this.#last }]
  }
}

const NONE: ReadonlyArray<OutputEvent> = []
