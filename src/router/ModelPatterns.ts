import type { Model } from "../domain/Model.ts"

/**
 * A test for a pattern in which `*` stands for any characters. What stands between two of them is looked for once, from left to
 * right, so that no pattern makes it try again.
 */
export const patternTest = (pattern: string): ((text: string) => boolean) => {
  const [first = "", ...others] = pattern.split("*")
  const last = others.pop()
  if (last === undefined) return (text) => text === pattern
  const between = others.filter((piece) => piece !== "")
  return (text) => {
    const end = text.length - last.length
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false
    let position = first.length
    for (const piece of between) {
      const found = text.indexOf(piece, position)
      if (found === -1) return false
      position = found + piece.length
    }
    return position <= end
  }
}

/** Whether one of the patterns means a model: by its id, or by its vendor and its id as in `openai/gpt-4o-mini` and `openai/*`. */
export const matcherOf = (patterns: ReadonlyArray<string>): ((model: Pick<Model, "id" | "vendor">) => boolean) => {
  const names = new Set(patterns.filter((pattern) => !pattern.includes("*")))
  const tests = patterns
    .filter((pattern) => pattern.includes("*"))
    .map((pattern) => ({ slashed: pattern.includes("/"), test: patternTest(pattern) }))
  return ({ id, vendor }) => {
    const full = `${vendor}/${id}`
    if (names.has(id) || names.has(full)) return true
    return tests.some(({ slashed, test }) => test(id) || (slashed && test(full)))
  }
}
