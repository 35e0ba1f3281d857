/** The result of a failed tool call without text. An empty text would look like a success. */
export const WORDLESS_FAILURE = "The tool failed."
