import type { OutputEvent } from "../../domain/Output.ts"
import type { JsonObject } from "../wire/Json.ts"
import { reasoningEnd, type ReadOptions } from "./ChatDecode.ts"
import { ThinkSplitter, type AnswerPiece } from "./ThinkTags.ts"
import { BETWEEN_TAGS, dataOf, joinDetail, reasoningIn } from "./ReasoningFields.ts"

/** Separates reasoning from the answer in a stream, and keeps the data that the host needs back until the reasoning ends. */
export class ReasoningFold {
  readonly #field: string | undefined
  #tags: ThinkSplitter | undefined
  /** The field of reasoning that has not ended yet. */
  #open: { field: string | undefined } | undefined
  #details: Array<JsonObject> = []

  constructor({ field, tags }: ReadOptions = { tags: "none" }) {
    this.#field = field
    this.#tags = tags === "none" ? undefined : new ThinkSplitter(tags)
  }

  /** The reasoning of a delta. A host that sends it in a field of its own puts none between tags. */
  delta(delta: JsonObject, out: Array<OutputEvent>): void {
    const { details, field, text } = reasoningIn(delta, this.#field)
    for (const detail of details) joinDetail(this.#details, detail)
    if (text === "") return
    this.#untag(out)
    this.#open ??= { field }
    out.push({ _tag: "Reasoning", text })
  }

  text(text: string, out: Array<OutputEvent>): void {
    if (this.#tags !== undefined) {
      this.#tagged(this.#tags.push(text), out)
      if (this.#tags.done) this.#tags = undefined
      return
    }
    if (this.#open !== undefined) this.#end(out)
    out.push({ _tag: "Text", text })
  }

  /** Called when something other than a text begins. The text so far is complete, as at the end of an answer. */
  over(out: Array<OutputEvent>): void {
    this.#untag(out, false)
    if (this.#open !== undefined) this.#end(out)
  }

  /** The events after all deltas. `cut`: the answer was truncated. */
  end(cut: boolean): ReadonlyArray<OutputEvent> {
    const out: Array<OutputEvent> = []
    this.#untag(out, cut)
    if (this.#open !== undefined || this.#details.length > 0) this.#end(out)
    return out
  }

  #untag(out: Array<OutputEvent>, cut = true): void {
    const tags = this.#tags
    this.#tags = undefined
    if (tags !== undefined) this.#tagged(tags.end(cut), out)
  }

  #tagged(pieces: ReadonlyArray<AnswerPiece>, out: Array<OutputEvent>): void {
    for (const { kind, text } of pieces) {
      if (kind === "Reasoning") this.#open ??= { field: BETWEEN_TAGS }
      else if (this.#open !== undefined) this.#end(out)
      out.push({ _tag: kind, text })
    }
  }

  #end(out: Array<OutputEvent>): void {
    out.push(...reasoningEnd(dataOf(this.#open?.field, this.#details)))
    this.#open = undefined
    this.#details = []
  }
}
