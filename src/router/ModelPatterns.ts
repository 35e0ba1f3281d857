import type { Model } from "../domain/Model.ts"

/**
 * Whether a text matches a pattern in which `*` stands for any characters. It goes back to the last `*` alone, so its time is
 * bounded by the product of both lengths, whatever the pattern.
 */
export const matchesPattern = (pattern: string, text: string): boolean => {
  let at = 0
  let position = 0
  let star = -1
  let resume = 0
  while (position < text.length) {
    if (pattern[at] === "*") {
      star = at++
      resume = position
    } else if (pattern[at] === text[position]) {
      at++
      position++
    } else if (star === -1) return false
    else {
      at = star + 1
      position = ++resume
    }
  }
  while (pattern[at] === "*") at++
  return at === pattern.length
}

/** Whether one of the patterns means a model: by its id, or by its vendor and its id as in `openai/gpt-4o-mini` and `openai/*`. */
export const matcherOf = (patterns: ReadonlyArray<string>): ((model: Pick<Model, "id" | "vendor">) => boolean) => {
  const names = new Set(patterns.filter((pattern) => !pattern.includes("*")))
  const wild = patterns.filter((pattern) => pattern.includes("*"))
  return ({ id, vendor }) => {
    const full = `${vendor}/${id}`
    return (
      names.has(id) ||
      names.has(full) ||
      wild.some((pattern) => matchesPattern(pattern, id) || matchesPattern(pattern, full))
    )
  }
}
