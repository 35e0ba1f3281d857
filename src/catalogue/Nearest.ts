/** A suggested id differs from the misspelled one by at most one edit for each of this many characters. */
const CHARS_PER_EDIT = 3

/** Reduces an id to its letters and digits, in lower case and without the vendor, because other differences do not matter. */
const plain = (id: string): string =>
  id
    .slice(id.lastIndexOf("/") + 1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")

/** The edit distance: how many characters must be inserted, deleted or replaced to turn one text into the other. */
const distance = (one: string, other: string): number => {
  let above = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const line = [row]
    for (let at = 1; at <= other.length; at++) {
      const replaced = above[at - 1]! + (one[row - 1] === other[at - 1] ? 0 : 1)
      line.push(Math.min(above[at]! + 1, line[at - 1]! + 1, replaced))
    }
    above = line
  }
  return above[other.length]!
}

/** Returns the id with the smallest edit distance to the misspelled one; undefined when none is close enough. */
export const nearest = (ids: Iterable<string>, misspelled: string): string | undefined => {
  const wanted = plain(misspelled)
  let [best, least]: [string | undefined, number] = [undefined, Math.floor(wanted.length / CHARS_PER_EDIT) + 1]
  for (const id of ids) {
    const known = plain(id)
    if (Math.abs(known.length - wanted.length) >= least) continue
    const apart = distance(wanted, known)
    if (apart < least) [best, least] = [id, apart]
  }
  return best
}
