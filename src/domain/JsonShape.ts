/** Finds JSON texts that would take seconds to parse, or that code cannot walk, before they are parsed. */

/** The maximum nesting depth. It allows code that walks a value to recurse. */
const MAX_DEPTH = 256

/** The maximum number of members of an object. One with a million takes seconds to parse, and again in all code that walks it. */
const MAX_MEMBERS = 10_000

/**
 * The maximum number of objects, arrays and members together. Each takes up to a microsecond to parse, and nothing else runs
 * meanwhile: the largest request body could hold ten million, which take up to ten seconds and 2 GB.
 */
const MAX_PARTS = 200_000

/** The maximum number of commas, and so of values. Plain values, such as numbers, take less: this many take a tenth of a second. */
const MAX_COMMAS = 4_000_000

/** A limit that a JSON text exceeds. The message goes on from the name of what has the text. */
export interface ShapeProblem {
  readonly limit: "depth" | "size"
  readonly message: string
}

const atMost = (most: number, what: string): ShapeProblem => ({
  limit: "size",
  message: `must have at most ${most.toLocaleString("en-US")} ${what}`
})

const problems = {
  depth: { limit: "depth", message: `is nested more than ${MAX_DEPTH} levels deep` },
  members: atMost(MAX_MEMBERS, "members in each object"),
  parts: atMost(MAX_PARTS, "objects, arrays and members in total"),
  values: atMost(MAX_COMMAS, "values in total")
} as const satisfies Record<string, ShapeProblem>

/** Whether `what` occurs more than `more` times in a text. */
const occurs = (text: string, what: string, more: number): boolean => {
  let left = more
  for (let at = text.indexOf(what); at !== -1; at = text.indexOf(what, at + 1)) if (left-- === 0) return true
  return false
}

/** Whether a text may exceed a limit. Counting characters proves nothing, but it rules most texts out, and is fast. */
const mayExceed = (text: string): boolean =>
  text.length > MAX_COMMAS ||
  occurs(text, "[", MAX_DEPTH / 2) ||
  occurs(text, "{", MAX_DEPTH / 2) ||
  occurs(text, ":", MAX_MEMBERS)

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** The end of the string that starts at `start`. */
const endOfString = (text: string, start: number): number => {
  const first = text.indexOf('"', start)
  if (first === -1) return text.length
  if (text.charCodeAt(first - 1) !== BACKSLASH) return first
  // To search for each of millions of escaped quotes takes longer than to look at every character.
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return text.length
}

const firstProblem = (text: string): ShapeProblem | undefined => {
  const around: Array<number> = []
  let [members, parts, commas] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at + 1)
        break
      case 0x7b: // {
      case 0x5b: // [
        around.push(members)
        members = 0
        if (around.length > MAX_DEPTH) return problems.depth
        if (++parts > MAX_PARTS) return problems.parts
        break
      case 0x7d: // }
      case 0x5d: // ]
        members = around.pop() ?? 0
        break
      case 0x3a: // :
        if (++members > MAX_MEMBERS) return problems.members
        if (++parts > MAX_PARTS) return problems.parts
        break
      case 0x2c: // ,
        if (++commas > MAX_COMMAS) return problems.values
    }
  }
  return undefined
}

/** Returns the limit that a JSON text exceeds; undefined for one that can be parsed. It does not check that the text is JSON. */
export const shapeProblemOf = (text: string): ShapeProblem | undefined =>
  mayExceed(text) ? firstProblem(text) : undefined
