/** The commands that go with a receipt. */
import type { RequestReceipt } from "../../../client/Contract.ts"
import type { Snippet } from "../../data/Snippets.ts"

interface RepeatedRequest {
  readonly path: string
  readonly body: object
}

const WORDS = "Your text"

const chat = [{ role: "user", content: WORDS }]

/** What each operation is asked with. The gateway keeps no prompts, so the text is the reader's. */
const askedOf = ({ model, operation, streamed }: RequestReceipt): RepeatedRequest | undefined => {
  const stream = streamed ? { stream: true } : {}
  switch (operation) {
    case "chat.completions":
      return { path: "/chat/completions", body: { model, messages: chat, ...stream } }
    case "messages":
      return { path: "/messages", body: { model, max_tokens: 1_024, messages: chat, ...stream } }
    case "responses":
      return { path: "/responses", body: { model, input: WORDS, ...stream } }
    case "embeddings":
      return { path: "/embeddings", body: { model, input: [WORDS] } }
    case "rerank":
      return { path: "/rerank", body: { model, query: WORDS, documents: ["One text", "Another text"] } }
    case "search":
      return { path: "/search", body: { query: WORDS } }
    case "images.generations":
      return { path: "/images/generations", body: { model, prompt: WORDS } }
    case "audio.speech":
      return { path: "/audio/speech", body: { model, input: WORDS, voice: "alloy" } }
    default:
      return undefined
  }
}

/** Commands that ask the same of the same model once more, and that read the receipt. */
export const commandsOf = (receipt: RequestReceipt, origin: string): ReadonlyArray<Snippet> => {
  const key = `-H "Authorization: Bearer $KEY"`
  const read = { name: "Read this receipt", code: `curl ${origin}/api/v1/requests/${receipt.id} \\\n  ${key}` }
  const asked = askedOf(receipt)
  if (asked === undefined) return [read]
  const code = [
    `curl -N ${origin}/api/v1${asked.path} \\`,
    `  ${key} \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify(asked.body)}'`
  ].join("\n")
  return [{ name: "Repeat it with curl", code }, read]
}
