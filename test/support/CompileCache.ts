import { fileURLToPath } from "node:url"

/** The directory of Node's compile cache, which the processes of the service in a test run share. */
export const COMPILE_CACHE = fileURLToPath(new URL("../../node_modules/.cache/compiled", import.meta.url))
