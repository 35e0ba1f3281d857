/** Names of operations and statuses for people, and sentences with counts. */
import { count } from "./Figures.ts"

const OPERATIONS: Readonly<Record<string, string>> = {
  "chat.completions": "Chat",
  responses: "Responses",
  messages: "Messages",
  embeddings: "Embeddings",
  "images.generations": "Image",
  "audio.speech": "Speech",
  videos: "Video",
  rerank: "Rerank",
  search: "Search",
  batch: "Batch",
  chat: "Legacy chat",
  images: "Legacy image",
  video: "Legacy video"
}

/** The operations that have receipts. */
export const operations: ReadonlyArray<string> = Object.keys(OPERATIONS)

/** The name of an operation. */
export const operationName = (id: string): string => OPERATIONS[id] ?? id

/** An identifier as words: `key.created` becomes "Key created". */
export const sentence = (word: string): string => {
  const words = word.replaceAll("top_up", "top-up").replaceAll(/[_.]/g, " ")
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export type Tone = "good" | "bad" | "warn" | "info" | "plain"

const STATUSES: Readonly<Record<string, string>> = { ga: "Available" }

/** The name of a status. */
export const statusName = (status: string): string => STATUSES[status] ?? sentence(status)

/** The colour of a status. Its name always stands beside the colour. */
export const toneOf = (status: string): Tone => {
  if (["succeeded", "active", "paid", "delivered", "enabled", "ga", "completed"].includes(status)) return "good"
  if (["failed", "revoked", "disabled", "retired"].includes(status)) return "bad"
  if (["cancelled", "expired", "deprecated", "archived", "preview", "suspended"].includes(status)) return "warn"
  return ["open", "pending", "queued", "processing", "validating", "in_progress", "finalizing", "cancelling"].includes(
    status
  )
    ? "info"
    : "plain"
}

/** "1 request", "2 requests". */
export const plural = (many: number, one: string, others: string = `${one}s`): string =>
  `${count(many)} ${many === 1 ? one : others}`
