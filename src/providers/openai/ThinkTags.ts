/**
 * How a host's texts are searched for the tags between which models of open weights think, where the host does not take them apart
 * itself. `closed`: an answer may begin with `<think>`. `open`: the prompt's template has opened the tag already, so that an answer
 * begins with its reasoning, and only `</think>` comes.
 */
export type ThinkTags = "none" | "closed" | "open"

/** Models whose templates open the tag. */
const OPENED = /(?:^|[^a-z0-9])(?:deepseek-r1|r1-distill|qwq)|-thinking(?:[^a-z0-9]|$)/i

/** What is usual of a model at a host of open models. */
export const usualTags = (upstreamId: string): ThinkTags => (OPENED.test(upstreamId) ? "open" : "closed")

/** A piece of an answer. */
export interface Thought {
  readonly kind: "Reasoning" | "Text"
  readonly text: string
}

const OPENING = "<think>"
const CLOSING = "</think>"

/** Blanks before a tag are held back so far, since those at the end of reasoning are not given out. */
const MOST_BLANKS = 64

/** Where the end of a text begins that may go on as the closing tag, or as the blanks before it. */
const heldFrom = (text: string): number => {
  let length = Math.min(CLOSING.length - 1, text.length)
  while (length > 0 && !CLOSING.startsWith(text.slice(text.length - length))) length -= 1
  let from = text.length - length
  const least = Math.max(0, from - MOST_BLANKS)
  while (from > least && text[from - 1]!.trim() === "") from -= 1
  return from
}

/** Takes reasoning and answer apart, however the text is cut. Only what an answer begins with is reasoning. */
export class ThinkSplitter {
  #state: "start" | "thinking" | "thought" | "answer" = "start"
  #held = ""
  readonly #opened: boolean
  /** Of reasoning whose opening tag is taken for granted all that came: without an end it was the answer. */
  #granted: Array<string> | undefined

  constructor(tags: "closed" | "open") {
    this.#opened = tags === "open"
  }

  /** The answer itself has begun, so that nothing need be searched for any more. */
  get done(): boolean {
    return this.#state === "answer"
  }

  push(text: string): ReadonlyArray<Thought> {
    this.#held += text
    const out: Array<Thought> = []
    if (this.#state === "start") this.#begin()
    if (this.#state === "thinking") this.#think(out)
    if (this.#state === "thought") {
      this.#held = this.#held.trimStart()
      if (this.#held !== "") this.#state = "answer"
    }
    if (this.#state === "answer" && this.#held !== "") {
      out.push({ kind: "Text", text: this.#held })
      this.#held = ""
    }
    return out
  }

  /** What was held back at the end of the texts; `cut` where the answer was cut short. */
  end(cut: boolean): ReadonlyArray<Thought> {
    const held = this.#held
    const state = this.#state
    this.#held = ""
    this.#state = "answer"
    if (state === "start") return held === "" ? [] : [{ kind: "Text", text: held }]
    if (state !== "thinking") return []
    const rest: ReadonlyArray<Thought> = held.trim() === "" ? [] : [{ kind: "Reasoning", text: held }]
    const granted = cut ? undefined : this.#granted
    return granted === undefined ? rest : [...rest, { kind: "Text", text: [...granted, held].join("") }]
  }

  #begin(): void {
    const begun = this.#held.trimStart()
    if (begun.startsWith(OPENING)) {
      this.#state = "thinking"
      this.#held = begun.slice(OPENING.length)
    } else if (!OPENING.startsWith(begun)) {
      this.#state = this.#opened ? "thinking" : "answer"
      if (this.#opened) this.#granted = []
    }
  }

  #think(out: Array<Thought>): void {
    if (!this.#said) this.#held = this.#held.trimStart()
    const end = this.#held.indexOf(CLOSING)
    const until = end === -1 ? heldFrom(this.#held) : end
    const said = end === -1 ? this.#held.slice(0, until) : this.#held.slice(0, until).trimEnd()
    if (said !== "") {
      this.#said = true
      out.push({ kind: "Reasoning", text: said })
    }
    if (end === -1) {
      if (said !== "") this.#granted?.push(said)
      this.#held = this.#held.slice(until)
      return
    }
    this.#granted = undefined
    this.#state = "thought"
    this.#held = this.#held.slice(end + CLOSING.length)
  }

  #said = false
}

/** The same of a whole text. Where its template opens the tag, a text without an end of it is none but the answer. */
export const splitThought = (
  text: string,
  tags: "closed" | "open",
  cut: boolean
): { readonly reasoning: string; readonly text: string } => {
  if (!cut && !text.includes(CLOSING) && !text.trimStart().startsWith(OPENING)) return { reasoning: "", text }
  const splitter = new ThinkSplitter(tags)
  const pieces = [...splitter.push(text), ...splitter.end(cut)]
  const joined = (kind: Thought["kind"]) => pieces.map((piece) => (piece.kind === kind ? piece.text : "")).join("")
  return { reasoning: joined("Reasoning"), text: joined("Text") }
}
