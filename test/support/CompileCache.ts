import { fileURLToPath } from "node:url"

/** Where Node keeps the compiled program between the many processes of the service that a run starts. */
export const COMPILE_CACHE = fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url))
