/** The first stage of `svc/auto`: classifies a request by rules. Pure, with bounded time for any input. */
import { type Conversation, hasImages, type Message } from "../domain/Conversation.ts"
import { type Task, TASKS } from "./Task.ts"
import { taskRules } from "./TaskRules.ts"

/** The result of the rules for a request. */
export interface Classification {
  readonly task: Task
  /** Whether the rules are certain enough to skip the language model. */
  readonly confident: boolean
  /** Whether the text is in a language other than English. */
  readonly multilingual: boolean
}

/** How many characters of a text the rules read: most from its beginning and some from its end. */
const HEAD_LENGTH = 3_000
const TAIL_LENGTH = 1_000

/** How many characters of the first and the last paragraph count as the ask itself. */
const ASK_LENGTH = 320

/** Below this score the rules have at best a hint. */
const CONFIDENT_SCORE = 5

/** How far the best task must lead the next one. */
const CONFIDENT_LEAD = 2

/** A system prompt describes all requests of its kind, so it weighs half as much as the user's words. */
const SYSTEM_SHARE = 0.5

/** The ends of a long text. A character that a cut splits is replaced, because hosts reject half of one. */
const bounded = (text: string): string =>
  text.length <= HEAD_LENGTH + TAIL_LENGTH
    ? text
    : `${text.slice(0, HEAD_LENGTH)}\n\n${text.slice(-TAIL_LENGTH)}`.toWellFormed()

const textOf = (message: Message | undefined): string => {
  if (message === undefined) return ""
  let text = ""
  for (const part of message.content) {
    if (part.type === "text") text += text === "" ? part.text : `\n${part.text}`
    if (text.length > 2 * (HEAD_LENGTH + TAIL_LENGTH)) break
  }
  return text
}

const lastOf = (conversation: Conversation, role: Message["role"]): Message | undefined =>
  conversation.messages.findLast((message) => message.role === role)

/** Returns the user's last message, bounded in length. The rules and the language model classify this text. */
export const lastWords = (conversation: Conversation): string => bounded(textOf(lastOf(conversation, "user"))).trim()

/** Returns the part of a text where people say what they want: the first paragraph, and the last one if it is short. */
const askOf = (text: string): string => {
  const paragraphs = text.split(/\n\s*\n/)
  const first = (paragraphs[0] ?? "").slice(0, ASK_LENGTH)
  const last = paragraphs.length > 1 ? (paragraphs.at(-1) ?? "") : ""
  return last.length > 0 && last.length <= ASK_LENGTH && /\?\s*$/.test(last) ? `${first}\n${last}` : first
}

type Scores = Map<Task, number>

const score = (text: string, share: number, scores: Scores): void => {
  if (text === "") return
  const ask = askOf(text)
  for (const { in: within, says, task, weight } of taskRules) {
    if (says.test(within === "ask" ? ask : text)) scores.set(task, (scores.get(task) ?? 0) + weight * share)
  }
}

/**
 * Classifies a conversation by the user's last message. If that leaves the task open, the system prompt counts for half. An image
 * beside the message makes it `vision`. If the task is still open, offered tools make it `tool_use`. Without any match it is
 * `general`.
 */
export const classify = (conversation: Conversation): Classification => {
  const words = lastWords(conversation)
  const multilingual = isMultilingual(words)
  const last = lastOf(conversation, "user")
  if (hasImages(conversation) && last?.content.some((part) => part.type === "image") === true) {
    return { task: "vision", confident: true, multilingual }
  }
  const scores: Scores = new Map()
  score(words, 1, scores)
  const own = verdict(scores)
  if (own.confident) return { ...own, multilingual }
  score(bounded(textOf(lastOf(conversation, "system"))), SYSTEM_SHARE, scores)
  const { confident, task } = verdict(scores)
  if (!confident && conversation.tools.length > 0) return { task: "tool_use", confident: true, multilingual }
  return { task, confident, multilingual }
}

const verdict = (scores: Scores): { readonly task: Task; readonly confident: boolean } => {
  let task: Task = "general"
  let best = 0
  let next = 0
  for (const one of TASKS) {
    const reached = scores.get(one) ?? 0
    if (reached > best) {
      next = best
      best = reached
      task = one
    } else if (reached > next) next = reached
  }
  return { task, confident: best >= CONFIDENT_SCORE && best - next >= CONFIDENT_LEAD }
}

/** The share of letters outside the Latin script that marks a text as not English. */
const FOREIGN_SHARE = 0.3

/** Requires more than one small word, because a single one may be a name or a variable. */
const MIN_FOREIGN = 1.5

/** How many characters are enough to tell the language. */
const LANGUAGE_LENGTH = 1_500

const english =
  /(?<!\p{L})(?:the|and|of|to|is|are|was|in|that|for|with|this|what|how|my|you|it|from|on|do|does|by|an|who|which|write|i'm|i)(?!\p{L})/giu

/** Short words that are frequent in a large language with Latin letters and are not English words. */
const foreign =
  /(?<![\p{L}#.$_])(?:der|die|das|und|ist|nicht|ein|eine|einen|mit|für|auf|wie|wir|ich|den|dem|von|zu|geht|le|la|les|des|une|est|et|que|qui|pour|dans|avec|ce|cette|texte|quelle|je|tu|el|los|las|una|por|para|con|del|qué|cómo|está|este|esta|il|di|che|gli|della|sono|nella|questo|chi|o|os|um|uma|não|em|da|het|een|van|niet|dat|och|är|att|det|på|og|ikke|nie|jest|się|na|czy|jak|gdzie|ve|bir|bu|için)(?!\p{L})/giu

const marks = /[äöüßéèêàâçñãõåæøąćęłńśźżğışřůőű¿¡]/giu

const countOf = (text: string, what: RegExp): number => text.match(what)?.length ?? 0

/**
 * Reports whether a text is in a language other than English, by its script and by the small words that every sentence contains.
 */
export const isMultilingual = (text: string): boolean => {
  const sample = text.slice(0, LANGUAGE_LENGTH)
  const letters = countOf(sample, /\p{L}/gu)
  if (letters === 0) return false
  const others = countOf(sample, /(?!\p{Script=Latin}|\p{Script=Greek})\p{L}/gu)
  if (others / letters >= FOREIGN_SHARE) return true
  const evidence = countOf(sample, foreign) + 0.5 * countOf(sample, marks)
  return evidence >= MIN_FOREIGN && evidence > 1.5 * countOf(sample, english)
}
