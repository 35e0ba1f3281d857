import { createHash } from "node:crypto"
import type { Nano } from "../domain/Money.ts"
import type { NewMessage } from "./SessionsSql.ts"

/** A message of a request in the client's form. */
export interface RequestMessage {
  readonly role: string
  readonly content: unknown
}

/** A request and its response. */
export interface Turn {
  /** The name of the request. The gateway records a turn with the same name once within a day. */
  readonly name: string
  readonly messages: ReadonlyArray<RequestMessage>
  readonly answer: {
    readonly content: string
    readonly model: string
    /** The usage as the response stated it. */
    readonly usage: unknown
    readonly cost: Nano
  }
  /**
   * The response cost nothing because it repeats an earlier one. Such a turn is not recorded if it equals the session's last turn.
   */
  readonly free: boolean
}

/** Makes a string and a list with one text part equal, because they mean the same. */
const plain = (content: unknown): unknown => {
  if (!Array.isArray(content) || content.length !== 1) return content
  const [part] = content as ReadonlyArray<{ readonly type?: unknown; readonly text?: unknown } | null>
  return part?.type === "text" && typeof part.text === "string" ? part.text : content
}

/** Returns the stored form of a data URL: its type and size. An image is about a thousand times larger than text. */
const noteOf = (url: string): string => {
  if (!/^data:/i.test(url)) return url
  const comma = url.indexOf(",")
  const head = url.slice(5, comma === -1 ? undefined : comma)
  const data = comma === -1 ? "" : url.slice(comma + 1)
  const bytes = /;base64$/i.test(head) ? Buffer.byteLength(data, "base64") : Buffer.byteLength(data, "utf8")
  return `data:${(head.split(";")[0] ?? "").slice(0, 100)} (${bytes} bytes)`
}

/** The fields of a part that can contain a data URL. */
const HOLDERS = { image_url: "url", file: "file_data" } as const

const recordedPart = (part: unknown): unknown => {
  const { type } = part as { readonly type?: unknown }
  if (type !== "image_url" && type !== "file") return part
  const inner = (part as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[type] ?? {}
  const url = inner[HOLDERS[type]]
  return typeof url === "string" ? { ...(part as object), [type]: { ...inner, [HOLDERS[type]]: noteOf(url) } } : part
}

const messageOf = ({ content, role }: RequestMessage): NewMessage => ({
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

/** Returns a request's messages in their recorded form. */
export const messagesOfRequest = (messages: ReadonlyArray<RequestMessage>): ReadonlyArray<NewMessage> =>
  messages.map(messageOf)

/** Returns a turn's response in its recorded form. */
export const messageOfAnswer = ({ answer, name }: Turn): NewMessage => ({
  ...messageOf({ role: "assistant", content: answer.content }),
  turn: name,
  model: answer.model,
  usage: JSON.stringify(answer.usage),
  cost: String(answer.cost)
})

/** The bytes counted for each message beside its content, because its row has a digest and a response has more fields. */
export const MESSAGE_BYTES = 256

/** Returns the bytes that messages count in a session: their content, and 256 each. */
export const bytesOf = (messages: ReadonlyArray<Pick<NewMessage, "content">>): number =>
  messages.reduce((sum, { content }) => sum + MESSAGE_BYTES + Buffer.byteLength(content, "utf8"), 0)

/** A request's messages in two parts. */
export interface Parts {
  /** The system messages before all others. */
  readonly instructions: ReadonlyArray<NewMessage>
  readonly talk: ReadonlyArray<NewMessage>
}

/**
 * Splits a request. Clients send the instructions with every part of a conversation, but the session stores them at its beginning.
 */
export const partsOf = (messages: ReadonlyArray<NewMessage>): Parts => {
  const first = messages.findIndex(({ role }) => role !== "system" && role !== "developer")
  const end = first === -1 ? messages.length : first
  return { instructions: messages.slice(0, end), talk: messages.slice(end) }
}

/** Reports whether the session ends with these messages. */
export const endsWith = (last: ReadonlyArray<string>, messages: ReadonlyArray<NewMessage>): boolean => {
  const start = last.length - messages.length
  return start >= 0 && messages.every(({ digest }, index) => last[start + index] === digest)
}

/**
 * Returns how many of a request's first messages the session already has. With every request, clients send the whole conversation
 * again, or its last part. The known messages are the longest prefix of the request that the session ends with.
 */
export const countKnown = (last: ReadonlyArray<string>, messages: ReadonlyArray<NewMessage>): number => {
  for (let common = Math.min(last.length, messages.length); common > 0; common--) {
    if (endsWith(last, messages.slice(0, common))) return common
  }
  return 0
}
