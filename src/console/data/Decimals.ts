/** The decimal number that a user typed; undefined if the text is not one. */
export const decimalIn = (text: string): number | undefined =>
  /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined
