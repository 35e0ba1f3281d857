/** What a tool that failed is taken to have said where it said nothing: an empty text reads like a success. */
export const WORDLESS_FAILURE = "The tool failed."
