/** Every dialect. The tests compare all others with the first. */
import { chat, legacy } from "./chat.ts"
import type { Dialect } from "./dialect.ts"
import { messages } from "./messages.ts"
import { responses } from "./responses.ts"

export const dialects: ReadonlyArray<Dialect> = [chat, messages, responses, legacy]
