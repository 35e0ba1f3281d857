import type { ReasoningData, ReasoningPlace } from "../domain/Conversation.ts"
import { eventsOf, type Output, type OutputEvent, OutputFold } from "../domain/Output.ts"
import { Pieces } from "../domain/Pieces.ts"
import type { Candidate } from "../domain/Plan.ts"
import { MAX_SEALED_BYTES, type ReasoningSeals } from "./ReasoningSeals.ts"

/** A reasoning block that has not ended. */
interface Block {
  readonly text: Pieces
  readonly place: ReasoningPlace
  length: number
}

/** Puts a seal at the end of each reasoning block of one answer, in place of the provider's own data. */
export class ReasoningSealer {
  readonly #seals: ReasoningSeals["Service"]
  readonly #accountId: string
  readonly #origin: { readonly provider: string; readonly model: string }
  #block: Block | undefined
  #textBefore = 0
  #callsBefore = 0

  constructor(seals: ReasoningSeals["Service"], accountId: string, { offer }: Candidate) {
    this.#seals = seals
    this.#accountId = accountId
    this.#origin = { provider: offer.provider, model: offer.upstreamId }
  }

  /** The events with seals. Most answers contain no reasoning, and their events are returned unchanged. */
  push(events: ReadonlyArray<OutputEvent>): ReadonlyArray<OutputEvent> {
    let sealed: Array<OutputEvent> | undefined
    for (let index = 0; index < events.length; index++) {
      const event = events[index]!
      const isEnd = event._tag === "ReasoningEnd"
      if (isEnd || (this.#block !== undefined && endsBlock(event))) {
        sealed ??= events.slice(0, index)
        sealed.push(...this.#end(isEnd ? event.data : undefined))
      }
      if (!isEnd) sealed?.push(event)
      this.#note(event)
    }
    return sealed ?? events
  }

  /** The last events of an answer without a finish. */
  end(): ReadonlyArray<OutputEvent> {
    return this.#block === undefined ? [] : this.#end(undefined)
  }

  #note(event: OutputEvent): void {
    if (event._tag === "Text") this.#textBefore += event.text.length
    else if (event._tag === "ToolStart") this.#callsBefore += 1
    else if (event._tag === "Reasoning") {
      this.#block ??= { text: new Pieces(), place: this.#place, length: 0 }
      this.#block.length += event.text.length
      // A block that is too long to be sealed need not be collected.
      if (this.#block.length <= MAX_SEALED_BYTES) this.#block.text.add(event.text)
    }
  }

  get #place(): ReasoningPlace {
    return { text: this.#textBefore, calls: this.#callsBefore }
  }

  #end(data: ReasoningData | undefined): ReadonlyArray<OutputEvent> {
    const { length, place, text } = this.#block ?? { length: 0, place: this.#place, text: undefined }
    this.#block = undefined
    if (length > MAX_SEALED_BYTES || (length === 0 && data === undefined)) return []
    const origin = data === undefined ? this.#origin : { ...this.#origin, data }
    const seal = this.#seals.seal(this.#accountId, { text: text?.text ?? "", place, origin })
    return seal === undefined ? [] : [{ _tag: "ReasoningEnd", seal }]
  }
}

const endsBlock = ({ _tag }: OutputEvent): boolean =>
  _tag === "Text" || _tag === "Refusal" || _tag === "ToolStart" || _tag === "Finish"

const hasReasoning = ({ order, reasoning }: Output): boolean =>
  reasoning !== "" || order?.some(({ data }) => data !== undefined) === true

/** A complete answer with seals. */
export const sealedOutput = (sealer: ReasoningSealer, output: Output): Output => {
  if (!hasReasoning(output)) return output
  const fold = new OutputFold()
  for (const event of sealer.push(eventsOf(output))) fold.push(event)
  for (const event of sealer.end()) fold.push(event)
  return { ...output, ...fold.output() }
}
