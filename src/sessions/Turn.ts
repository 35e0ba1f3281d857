import { createHash } from "node:crypto"
import type { Nano } from "../domain/Money.ts"
import type { NewMessage } from "./SessionsSql.ts"

/** A message of a request as its caller wrote it. */
export interface SaidMessage {
  readonly role: string
  readonly content: unknown
}

/** A request that was answered, and its answer. */
export interface Turn {
  /** Names the request; a turn that comes again under the same name within a day is recorded once. */
  readonly name: string
  readonly messages: ReadonlyArray<SaidMessage>
  readonly answer: {
    readonly content: string
    readonly model: string
    /** As the answer said it. */
    readonly usage: unknown
    readonly cost: Nano
  }
  /** It cost nothing, having been given before; one that repeats the session's last turn is not recorded. */
  readonly free: boolean
}

/** A text is the same whether it is said as a string or as the one part of a list. */
const plain = (content: unknown): unknown => {
  if (!Array.isArray(content) || content.length !== 1) return content
  const [part] = content as ReadonlyArray<{ readonly type?: unknown; readonly text?: unknown } | null>
  return part?.type === "text" && typeof part.text === "string" ? part.text : content
}

/** What a session keeps of a data URL: its type and how many bytes it has, for a picture has a thousand times those of a text. */
const noteOf = (url: string): string => {
  if (!/^data:/i.test(url)) return url
  const comma = url.indexOf(",")
  const head = url.slice(5, comma === -1 ? undefined : comma)
  const said = comma === -1 ? "" : url.slice(comma + 1)
  const bytes = /;base64$/i.test(head) ? Buffer.byteLength(said, "base64") : Buffer.byteLength(said, "utf8")
  return `data:${(head.split(";")[0] ?? "").slice(0, 100)} (${bytes} bytes)`
}

/** The members of a part that hold a data URL. */
const HOLDERS = { image_url: "url", file: "file_data" } as const

const recordedPart = (part: unknown): unknown => {
  const { type } = part as { readonly type?: unknown }
  if (type !== "image_url" && type !== "file") return part
  const inner = (part as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[type] ?? {}
  const url = inner[HOLDERS[type]]
  return typeof url === "string" ? { ...(part as object), [type]: { ...inner, [HOLDERS[type]]: noteOf(url) } } : part
}

const messageOf = ({ content, role }: SaidMessage): NewMessage => ({
  role,
  content: JSON.stringify(Array.isArray(content) ? content.map(recordedPart) : content),
  digest: createHash("sha256")
    .update(`${role}\n${JSON.stringify(plain(content))}`)
    .digest("base64url"),
  turn: null,
  model: null,
  usage: null,
  cost: null
})

/** The messages of a request as they would be recorded. */
export const messagesOfRequest = (messages: ReadonlyArray<SaidMessage>): ReadonlyArray<NewMessage> =>
  messages.map(messageOf)

/** A turn's answer as it is recorded. */
export const messageOfAnswer = ({ answer, name }: Turn): NewMessage => ({
  ...messageOf({ role: "assistant", content: answer.content }),
  turn: name,
  model: answer.model,
  usage: JSON.stringify(answer.usage),
  cost: String(answer.cost)
})

/** Counted for each message beside what it says: its row has a digest, and an answer's has more. */
export const MESSAGE_BYTES = 256

/** Bytes that messages take of a session: what they say, and 256 for each. */
export const bytesOf = (messages: ReadonlyArray<Pick<NewMessage, "content">>): number =>
  messages.reduce((sum, { content }) => sum + MESSAGE_BYTES + Buffer.byteLength(content, "utf8"), 0)

/** A request's messages in two. */
export interface Parts {
  /** What the system says before all others. */
  readonly instructions: ReadonlyArray<NewMessage>
  readonly talk: ReadonlyArray<NewMessage>
}

/** Parts a request: its instructions come with every part of a conversation that is sent, and stand where that begins. */
export const partsOf = (messages: ReadonlyArray<NewMessage>): Parts => {
  const first = messages.findIndex(({ role }) => role !== "system" && role !== "developer")
  const end = first === -1 ? messages.length : first
  return { instructions: messages.slice(0, end), talk: messages.slice(end) }
}

/** Whether the session's last messages are these. */
export const endsWith = (last: ReadonlyArray<string>, messages: ReadonlyArray<NewMessage>): boolean => {
  const start = last.length - messages.length
  return start >= 0 && messages.every(({ digest }, index) => last[start + index] === digest)
}

/**
 * How many of a request's first messages a session has already. Callers send the conversation anew with every request, or its last part:
 * so many of the request's first messages as are the session's last ones are known.
 */
export const knownOf = (last: ReadonlyArray<string>, messages: ReadonlyArray<NewMessage>): number => {
  for (let common = Math.min(last.length, messages.length); common > 0; common--) {
    if (endsWith(last, messages.slice(0, common))) return common
  }
  return 0
}
