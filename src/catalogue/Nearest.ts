/** An id may differ from what was written in one character of so many. */
const LIKENESS = 3

/** What of a spelling matters: not the vendor before it, nor case, nor how its parts are joined. */
const plain = (id: string): string =>
  id
    .slice(id.lastIndexOf("/") + 1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")

/** How many characters have to be put in, taken out or exchanged. */
const distance = (one: string, other: string): number => {
  let above = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let row = 1; row <= one.length; row++) {
    const line = [row]
    for (let at = 1; at <= other.length; at++) {
      const exchanged = above[at - 1]! + (one[row - 1] === other[at - 1] ? 0 : 1)
      line.push(Math.min(above[at]! + 1, line[at - 1]! + 1, exchanged))
    }
    above = line
  }
  return above[other.length]!
}

/** The id that is spelled most like what was written; undefined where none is like it. */
export const nearest = (ids: Iterable<string>, written: string): string | undefined => {
  const wanted = plain(written)
  let [best, least]: [string | undefined, number] = [undefined, Math.floor(wanted.length / LIKENESS) + 1]
  for (const id of ids) {
    const known = plain(id)
    if (Math.abs(known.length - wanted.length) >= least) continue
    const apart = distance(wanted, known)
    if (apart < least) [best, least] = [id, apart]
  }
  return best
}
