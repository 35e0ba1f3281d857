/** The commands on a receipt. */
import type { RequestReceipt } from "../../../client/Contract.ts"
import type { Snippet } from "../../data/Snippets.ts"

interface ExampleRequest {
  readonly path: string
  readonly body: object
}

const WORDS = "Your text"

const chat = [{ role: "user", content: WORDS }]

/** An example request for the operation. The gateway stores no prompts, so it has a placeholder for the text. */
const exampleOf = ({ model, operation, streamed }: RequestReceipt): ExampleRequest | undefined => {
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

/** Commands that send such a request to the same model again, and that read the receipt. */
export const commandsOf = (receipt: RequestReceipt, origin: string): ReadonlyArray<Snippet> => {
  const key = `-H "Authorization: Bearer $KEY"`
  const read: Snippet = {
    name: "Read this receipt",
    language: "bash",
    code: `curl ${origin}/api/v1/requests/${receipt.id} \\\n  ${key}`
  }
  const example = exampleOf(receipt)
  if (example === undefined) return [read]
  const code = [
    `curl -N ${origin}/api/v1${example.path} \\`,
    `  ${key} \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${JSON.stringify(example.body)}'`
  ].join("\n")
  return [{ name: "Repeat it with curl", language: "bash", code }, read]
}
