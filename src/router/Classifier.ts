/** The first stage of `svc/auto`: what a request is about, by rules. Pure, and bounded in time whatever it is given. */
import { type Conversation, hasImages, type Message } from "../domain/Conversation.ts"
import { type Task, TASKS } from "./Task.ts"
import { taskRules } from "./TaskRules.ts"

/** What the rules make of a request. */
export interface Classification {
  readonly task: Task
  /** Whether the rules are sure enough for nobody else to be asked. */
  readonly confident: boolean
  /** Whether it is written in another language than English. */
  readonly multilingual: boolean
}

/** Of a text so many characters are looked at, most of them at its beginning. */
const HEAD_LENGTH = 3_000
const TAIL_LENGTH = 1_000

/** Of a text's first and of its last paragraph so much is taken for the ask itself. */
const ASK_LENGTH = 320

/** Below this the rules have seen a hint at most. */
const CONFIDENT_SCORE = 5

/** So far ahead of the next task one must be. */
const CONFIDENT_LEAD = 2

/** A system prompt speaks of all requests of its kind, so it counts for half of what the user says. */
const SYSTEM_SHARE = 0.5

const bounded = (text: string): string =>
  text.length <= HEAD_LENGTH + TAIL_LENGTH ? text : `${text.slice(0, HEAD_LENGTH)}\n\n${text.slice(-TAIL_LENGTH)}`

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

/** What the user said last, bounded; what is classified, by the rules and by a model. */
export const lastWords = (conversation: Conversation): string => bounded(textOf(lastOf(conversation, "user"))).trim()

/** Where people say what they want: in the first paragraph, and in the last where that is short. */
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
 * The task of a conversation by what its user said last; where that leaves it open, the system prompt counts for half. With an
 * image beside those words it is `vision`. Where the task is still open, offered tools make it `tool_use`; where nothing speaks
 * for any, it is `general`.
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

/** Of the letters of a text so many must be of another script than Latin for its language to be another than English. */
const FOREIGN_SHARE = 0.3

/** One small word alone may be a name, or a variable. */
const LEAST_FOREIGN = 1.5

/** So much of a text tells its language. */
const LANGUAGE_LENGTH = 1_500

const english =
  /(?<!\p{L})(?:the|and|of|to|is|are|was|in|that|for|with|this|what|how|my|you|it|from|on|do|does|by|an|who|which|write|i'm|i)(?!\p{L})/giu

/** Short words that are frequent in one of the large languages in Latin letters and are no English words. */
const foreign =
  /(?<![\p{L}#.$_])(?:der|die|das|und|ist|nicht|ein|eine|einen|mit|für|auf|wie|wir|ich|den|dem|von|zu|geht|le|la|les|des|une|est|et|que|qui|pour|dans|avec|ce|cette|texte|quelle|je|tu|el|los|las|una|por|para|con|del|qué|cómo|está|este|esta|il|di|che|gli|della|sono|nella|questo|chi|o|os|um|uma|não|em|da|het|een|van|niet|dat|och|är|att|det|på|og|ikke|nie|jest|się|na|czy|jak|gdzie|ve|bir|bu|için)(?!\p{L})/giu

const marks = /[äöüßéèêàâçñãõåæøąćęłńśźżğışřůőű¿¡]/giu

const countOf = (text: string, what: RegExp): number => text.match(what)?.length ?? 0

/** Whether a text is in another language than English, by its script and by the small words that every sentence has. */
export const isMultilingual = (text: string): boolean => {
  const sample = text.slice(0, LANGUAGE_LENGTH)
  const letters = countOf(sample, /\p{L}/gu)
  if (letters === 0) return false
  const others = countOf(sample, /(?!\p{Script=Latin}|\p{Script=Greek})\p{L}/gu)
  if (others / letters >= FOREIGN_SHARE) return true
  const told = countOf(sample, foreign) + 0.5 * countOf(sample, marks)
  return told >= LEAST_FOREIGN && told > 1.5 * countOf(sample, english)
}
