/** The largest request for vectors that is usual: as many inputs as OpenAI takes, in the dimensions of its smaller model. */

export const INPUTS = 2_048
export const DIMENSIONS = 1_536

/** A small request for vectors, as a search sends it. */
export const SHORT_INPUTS = 4
export const SHORT_DIMENSIONS = 256

export const shortRequest = JSON.stringify({
  model: "text-embedding-3-small",
  input: Array.from({ length: SHORT_INPUTS }, (_, index) => `a digital piano whose keys keep sounding, ${index}`),
  dimensions: SHORT_DIMENSIONS
})

const TEXT = "A sentence of ordinary length, as it stands in documents that somebody wants to find again"

/** The request as its client sends it; the format stands last. */
export const requestOf = (format: "float" | "base64"): string =>
  JSON.stringify({
    model: "text-embedding-3-small",
    input: Array.from({ length: INPUTS }, (_, index) => `${TEXT}, number ${index}.`),
    encoding_format: format
  })
