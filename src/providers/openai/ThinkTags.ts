/**
 * Whether a host's texts may contain the tags between which open models reason, if the host does not separate them itself. `closed`: an
 * answer may start with `<think>`. `open`: the chat template has already opened the tag, so an answer starts with reasoning and
 * contains only `</think>`.
 */
export type ThinkTags = "none" | "closed" | "open"

/** Models with chat templates that open the tag. */
const OPENED = /(?:^|[^a-z0-9])(?:deepseek-r1|r1-distill|qwq)|-thinking(?:[^a-z0-9]|$)/i

/** The usual setting for a model at a host of open models. */
export const usualTags = (upstreamId: string): ThinkTags => (OPENED.test(upstreamId) ? "open" : "closed")

/** A piece of an answer. */
export interface AnswerPiece {
  readonly kind: "Reasoning" | "Text"
  readonly text: string
}

const OPENING = "<think>"
const CLOSING = "</think>"

/** How much whitespace before a tag is held back, because whitespace at the end of reasoning is dropped. */
const MAX_BLANKS = 64

/** The start of a trailing part that may continue as the closing tag, or as the whitespace before it. */
const heldFrom = (text: string): number => {
  let length = Math.min(CLOSING.length - 1, text.length)
  while (length > 0 && !CLOSING.startsWith(text.slice(text.length - length))) length -= 1
  let from = text.length - length
  const least = Math.max(0, from - MAX_BLANKS)
  while (from > least && text[from - 1]!.trim() === "") from -= 1
  return from
}

/** Separates reasoning from the answer, in chunks of any size. Reasoning can only be at the start of an answer. */
export class ThinkSplitter {
  #state: "start" | "thinking" | "afterThinking" | "answer" = "start"
  #held = ""
  readonly #opened: boolean
  /** The text so far of reasoning with an assumed opening tag. Without a closing tag, it was the answer. */
  #granted: Array<string> | undefined

  constructor(tags: "closed" | "open") {
    this.#opened = tags === "open"
  }

  /** Whether the answer has begun, so that no text needs to be searched any more. */
  get done(): boolean {
    return this.#state === "answer"
  }

  push(text: string): ReadonlyArray<AnswerPiece> {
    this.#held += text
    const out: Array<AnswerPiece> = []
    if (this.#state === "start") this.#begin()
    if (this.#state === "thinking") this.#think(out)
    if (this.#state === "afterThinking") {
      this.#held = this.#held.trimStart()
      if (this.#held !== "") this.#state = "answer"
    }
    if (this.#state === "answer" && this.#held !== "") {
      out.push({ kind: "Text", text: this.#held })
      this.#held = ""
    }
    return out
  }

  /** The text that was held back at the end. `cut`: the answer was truncated. */
  end(cut: boolean): ReadonlyArray<AnswerPiece> {
    const held = this.#held
    const state = this.#state
    this.#held = ""
    this.#state = "answer"
    if (state === "start") return held === "" ? [] : [{ kind: "Text", text: held }]
    if (state !== "thinking") return []
    const rest: ReadonlyArray<AnswerPiece> = held.trim() === "" ? [] : [{ kind: "Reasoning", text: held }]
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

  #think(out: Array<AnswerPiece>): void {
    if (!this.#hasReasoning) this.#held = this.#held.trimStart()
    const end = this.#held.indexOf(CLOSING)
    const until = end === -1 ? heldFrom(this.#held) : end
    const reasoning = end === -1 ? this.#held.slice(0, until) : this.#held.slice(0, until).trimEnd()
    if (reasoning !== "") {
      this.#hasReasoning = true
      out.push({ kind: "Reasoning", text: reasoning })
    }
    if (end === -1) {
      if (reasoning !== "") this.#granted?.push(reasoning)
      this.#held = this.#held.slice(until)
      return
    }
    this.#granted = undefined
    this.#state = "afterThinking"
    this.#held = this.#held.slice(end + CLOSING.length)
  }

  #hasReasoning = false
}

/** Splits a complete text into reasoning and answer. If the template opens the tag, a text without the closing tag is all answer. */
export const splitReasoning = (
  text: string,
  tags: "closed" | "open",
  cut: boolean
): { readonly reasoning: string; readonly text: string } => {
  if (!cut && !text.includes(CLOSING) && !text.trimStart().startsWith(OPENING)) return { reasoning: "", text }
  const splitter = new ThinkSplitter(tags)
  const pieces = [...splitter.push(text), ...splitter.end(cut)]
  const joined = (kind: AnswerPiece["kind"]) => pieces.map((piece) => (piece.kind === kind ? piece.text : "")).join("")
  return { reasoning: joined("Reasoning"), text: joined("Text") }
}
