/** Every dialect; all others are compared with the first. */
import { chat, legacy } from "./chat.ts"
import type { Dialect } from "./dialect.ts"

export const dialects: ReadonlyArray<Dialect> = [chat, legacy]
