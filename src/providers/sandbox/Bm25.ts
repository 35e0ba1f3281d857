/** Ranks documents by words, for the sandbox's doubles of rerankers and search engines. */

/** BM25's usual parameters: how fast repeated words stop counting, and how much long documents are penalized. */
const K1 = 1.2
const B = 0.75

/** The words of a text in lower case and without accents: runs of letters and digits of any script, repetitions included. */
export const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

const countsOf = (words: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/**
 * The Okapi BM25 score of every document for a query (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009), in the
 * order of the documents, with the inverse document frequency that is never negative. A document without any of the query's words
 * scores 0; a better one scores more. A word counts once, however often the query repeats it.
 */
export const bm25 = (query: string, documents: ReadonlyArray<string>): ReadonlyArray<number> => {
  const queryWords = new Set(wordsOf(query))
  const texts = documents.map((document) => {
    const words = wordsOf(document)
    return { counts: countsOf(words), length: words.length }
  })
  const average = texts.reduce((sum, { length }) => sum + length, 0) / Math.max(1, texts.length)
  const scores = texts.map(() => 0)
  for (const word of queryWords) {
    const having = texts.filter(({ counts }) => counts.has(word)).length
    const rarity = Math.log(1 + (texts.length - having + 0.5) / (having + 0.5))
    for (const [index, { counts, length }] of texts.entries()) {
      const count = counts.get(word) ?? 0
      if (count === 0) continue
      const weight = (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / average))
      scores[index] = (scores[index] ?? 0) + rarity * weight
    }
  }
  return scores
}
