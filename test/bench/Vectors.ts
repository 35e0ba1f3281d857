/** The largest common embeddings request: as many inputs as OpenAI accepts, in the dimensions of its smaller model. */

export const INPUTS = 2_048
export const DIMENSIONS = 1_536

/** A small embeddings request, as a search sends it. */
export const SHORT_INPUTS = 4
export const SHORT_DIMENSIONS = 256

export const shortRequest = JSON.stringify({
  model: "text-embedding-3-small",
  input: Array.from({ length: SHORT_INPUTS }, (_, index) => `a digital piano whose keys keep sounding, ${index}`),
  dimensions: SHORT_DIMENSIONS
})

const TEXT = "A sentence of ordinary length, as it stands in documents that somebody wants to find again"

/** The body of the large request. The mock upstream reads the format at its end. */
export const requestOf = (format: "float" | "base64"): string =>
  JSON.stringify({
    model: "text-embedding-3-small",
    input: Array.from({ length: INPUTS }, (_, index) => `${TEXT}, number ${index}.`),
    encoding_format: format
  })
