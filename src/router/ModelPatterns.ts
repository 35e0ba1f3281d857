import type { Model } from "../domain/Model.ts"

/**
 * Returns a test for a pattern in which `*` matches any characters. It searches each literal piece once, from left to right, so no
 * pattern causes backtracking.
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

type Matcher = (model: Pick<Model, "id" | "vendor">) => boolean

/** Caches matchers by list, because the gateway plans the same request more than once. */
const matchers = new WeakMap<ReadonlyArray<string>, Matcher>()

const isPrefix = (pattern: string): boolean => pattern.indexOf("*") === pattern.length - 1

const makeMatcher = (patterns: ReadonlyArray<string>): Matcher => {
  const names = new Set<string>()
  const prefixes = new Set<string>()
  const wild = new Set<string>()
  for (const pattern of patterns) {
    if (!pattern.includes("*")) names.add(pattern)
    else if (isPrefix(pattern)) prefixes.add(pattern.slice(0, -1))
    else wild.add(pattern)
  }
  const lengths = [...new Set([...prefixes].map(({ length }) => length))]
  const tests = [...wild].map((pattern) => ({ slashed: pattern.includes("/"), test: patternTest(pattern) }))
  const answers = new Map<string, boolean>()
  const matches = (id: string, full: string): boolean => {
    if (names.has(id) || names.has(full)) return true
    const slash = full.indexOf("/")
    const begins = lengths.some(
      (length) => prefixes.has(id.slice(0, length)) || (length > slash && prefixes.has(full.slice(0, length)))
    )
    return begins || tests.some(({ slashed, test }) => test(id) || (slashed && test(full)))
  }
  return ({ id, vendor }) => {
    const full = `${vendor}/${id}`
    const known = answers.get(full)
    if (known !== undefined) return known
    const answer = matches(id, full)
    answers.set(full, answer)
    return answer
  }
}

/**
 * Returns a matcher that reports whether a pattern names a model, by its ID or by vendor and ID as in `openai/gpt-4o-mini` and
 * `openai/*`. The same list returns the same matcher, which caches its answer for each model.
 */
export const matcherOf = (patterns: ReadonlyArray<string>): Matcher => {
  const known = matchers.get(patterns)
  if (known !== undefined) return known
  const matcher = makeMatcher(patterns)
  matchers.set(patterns, matcher)
  return matcher
}
