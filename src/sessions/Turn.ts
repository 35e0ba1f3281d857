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
}

/** A text is the same whether it is said as a string or as the one part of a list. */
const plain = (content: unknown): unknown => {
  if (!Array.isArray(content) || content.length !== 1) return content
  const [part] = content as ReadonlyArray<{ readonly type?: unknown; readonly text?: unknown } | null>
  return part?.type === "text" && typeof part.text === "string" ? part.text : content
}

const messageOf = ({ content, role }: SaidMessage): NewMessage => ({
  role,
  content: JSON.stringify(content),
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

/** Bytes of what messages say. */
export const bytesOf = (messages: ReadonlyArray<Pick<NewMessage, "content">>): number =>
  messages.reduce((sum, { content }) => sum + Buffer.byteLength(content, "utf8"), 0)

/**
 * The messages of a request that are new to a session. Callers send the conversation anew with every request, or its last part:
 * so many of the request's first messages as are the session's last ones are not new.
 */
export const newMessages = (
  last: ReadonlyArray<string>,
  messages: ReadonlyArray<NewMessage>
): ReadonlyArray<NewMessage> => {
  for (let common = Math.min(last.length, messages.length); common > 0; common--) {
    const start = last.length - common
    if (messages.every(({ digest }, index) => index >= common || last[start + index] === digest)) {
      return messages.slice(common)
    }
  }
  return messages
}
