/** Vectors by feature hashing. They are deterministic, and similar for texts with common words or parts of words. */
import { wordsOf } from "./Bm25.ts"

/** The weight of a word relative to one of its three-letter groups, which make its inflections and misspellings similar. */
const WORD = 1
const TRIGRAM = 0.35

const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/** FNV-1a over UTF-16 units with the final steps of MurmurHash3, without which similar words would get close positions. */
const hashOf = (feature: string): number => {
  let hash = OFFSET
  for (let index = 0; index < feature.length; index++) hash = Math.imul(hash ^ feature.charCodeAt(index), PRIME)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The sign comes from a bit that does not affect the position, so features that collide cancel out as often as they add up. */
const add = (vector: Float32Array, feature: string, weight: number): void => {
  const hash = hashOf(feature)
  const at = (hash >>> 1) % vector.length
  vector[at] = (vector[at] ?? 0) + ((hash & 1) === 0 ? weight : -weight)
}

const addWord = (vector: Float32Array, word: string): void => {
  add(vector, word, WORD)
  const framed = `<${word}>`
  for (let start = 0; start + 3 <= framed.length; start++) add(vector, framed.slice(start, start + 3), TRIGRAM)
}

/** Scales a vector to Euclidean length one. A vector without features points to a fixed position. */
const normalised = (vector: Float32Array): Float32Array => {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  if (norm === 0) vector[0] = 1
  else for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) / norm
  return vector
}

/** The vector of a text, or of its tokens, with this many dimensions: 32-bit floats of length one. */
export const vectorOf = (input: string | ReadonlyArray<number>, dimensions: number): Float32Array => {
  const vector = new Float32Array(dimensions)
  if (typeof input === "string") for (const word of wordsOf(input)) addWord(vector, word)
  else for (const token of input) add(vector, `#${token}`, WORD)
  return normalised(vector)
}
